"""Programs of the ops that know whole arrays: shapes, reductions, products, loops, devices."""

import numpy as np

from tests.replay.samples import (
    DEFINITE,
    SQUARE,
    M,
    S,
    V,
    body,
    complexes,
    dense,
    fixed,
    kind,
    positive,
    program,
)

I32 = np.int32


def op(name, args, results, attributes="", regions="", smooth=(0,), functions="", **others):
    """The sample of one program."""
    args = tuple(np.asarray(x) for x in args)
    text = program(name, args, results, attributes, regions, functions)
    return fixed(text, args, smooth, **others)


def text(*lines, args, result, smooth=(0,), functions="", **others):
    """The sample of a program that is written out; `%0` … are its arguments."""
    args = tuple(np.asarray(x) for x in args)
    parameters = ", ".join(f"%{i}: {kind(x)}" for i, x in enumerate(args))
    inner = "\n".join(f"  {line}" for line in lines)
    result = result if isinstance(result, str) else kind(result)
    whole = (
        f"{functions}func.func @main({parameters}) -> {result} {{\n{inner}\n"
        f"  return %r : {result}\n}}"
    )
    return fixed(whole, args, smooth, **others)


def shaped(n, element="i64"):
    """A line that makes a constant shape."""
    return f"%s = stablehlo.constant {dense(n, element)}"


def bn(name, args, results, smooth):
    attributes = "epsilon = 1.0e-2 : f32, feature_index = 1 : i64"
    return op(f"stablehlo.batch_norm_{name}", args, results, attributes, smooth=smooth)


IMAGE, KERNEL = positive(1, 4, 4, 2), positive(2, 2, 2, 3, seed=3)
PATCHES = np.stack([
    np.stack([IMAGE[0, i : i + 2, j : j + 2] for j in range(3)]) for i in range(3)
])  # fmt: skip
GROUPS = positive(4, 3), positive(2, 3, 2)
ROWS = np.array([[0], [2]], np.int64)
REFUSED = "XLA itself refuses it"
LOOP = """
  %i = stablehlo.constant dense<0> : tensor<i32>
  %n = stablehlo.constant dense<3> : tensor<i32>
  %o = stablehlo.constant dense<1> : tensor<i32>
  %w:2 = stablehlo.while(%j = %i, %x = %0) : tensor<i32>, tensor<4xf64>
    cond {
      %c = stablehlo.compare LT, %j, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %c : tensor<i1>
    } do {
      %k = stablehlo.add %j, %o : tensor<i32>
      %y = stablehlo.sine %x : tensor<4xf64>
      stablehlo.return %k, %y : tensor<i32>, tensor<4xf64>
    }
  %r = stablehlo.negate %w#1 : tensor<4xf64>"""
SINE = """func.func private @sine(%a: tensor<4xf64>) -> tensor<4xf64> {
  %b = stablehlo.sine %a : tensor<4xf64>
  return %b : tensor<4xf64>
}
"""
BRANCHES = """{ %a = stablehlo.sine %0 : tensor<4xf64>
    stablehlo.return %a : tensor<4xf64> }, { %a = stablehlo.cosine %0 : tensor<4xf64>
    stablehlo.return %a : tensor<4xf64> }"""
SORT = """{ ^bb0(%a: tensor<f64>, %b: tensor<f64>):
      %c = stablehlo.compare LT, %a, %b : (tensor<f64>, tensor<f64>) -> tensor<i1>
      stablehlo.return %c : tensor<i1> }"""
GATHER = """dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0],
      start_index_map = [0], index_vector_dim = 1>"""
SELECT = """{ ^bb0(%a: tensor<f64>, %b: tensor<f64>):
      %c = stablehlo.compare GE, %a, %b : (tensor<f64>, tensor<f64>) -> tensor<i1>
      stablehlo.return %c : tensor<i1> }"""
WINDOW = "window_dimensions = array<i64: 2, 2>, window_strides = array<i64: 1, 2>"
CONV = """batch_group_count = 1 : i64, feature_group_count = 1 : i64,
      dimension_numbers = #stablehlo.conv<[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]>,
      window_strides = array<i64: 1, 1>"""
DOT = """dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [1],
      rhs_contracting_dimensions = [0]>"""
SCATTER = """scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1],
      inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>"""
RAGGED = """ragged_dot_dimension_numbers = #chlo.ragged_dot<lhs_batching_dimensions = [],
      rhs_batching_dimensions = [], lhs_contracting_dimensions = [1],
      rhs_contracting_dimensions = [1], lhs_ragged_dimensions = [0], rhs_group_dimensions = [0]>"""
SCAN = """{ ^bb0(%a: tensor<4xf64>, %b: tensor<4xf64>):
      %c = stablehlo.multiply %a, %b : tensor<4xf64>
      stablehlo.return %c, %c : tensor<4xf64>, tensor<4xf64> }"""

ARRAYS = {
    "stablehlo.broadcast": op(
        "stablehlo.broadcast", [V], [positive(2, 4)], "broadcast_sizes = array<i64: 2>"
    ),
    "stablehlo.broadcast_in_dim": op(
        "stablehlo.broadcast_in_dim", [V], [M], "broadcast_dimensions = array<i64: 1>"
    ),
    "stablehlo.concatenate": op(
        "stablehlo.concatenate", [M, M[:1]], [positive(4, 4)], "dimension = 0 : i64", smooth=(0, 1)
    ),
    "stablehlo.constant": text(
        "%r = stablehlo.constant dense<[1.0, 2.0]> : tensor<2xf64>", args=[], result=M[0, :2], smooth=()
    ),
    "stablehlo.iota": text(
        "%r = stablehlo.iota dim = 0 : tensor<4xf64>", args=[], result=V, smooth=()
    ),
    "stablehlo.dynamic_slice": op(
        "stablehlo.dynamic_slice", [M, I32(1), I32(2)], [M[:2, :2]],
        "slice_sizes = array<i64: 2, 2>",
    ),
    "stablehlo.dynamic_update_slice": op(
        "stablehlo.dynamic_update_slice", [M, M[:2, :2] + 1, I32(1), I32(3)], [M], smooth=(0, 1)
    ),
    "stablehlo.get_dimension_size": op(
        "stablehlo.get_dimension_size", [M], [I32(0)], "dimension = 1 : i64", smooth=()
    ),
    "stablehlo.set_dimension_size": text(
        "%n = stablehlo.constant dense<4> : tensor<i32>",
        '%r = "stablehlo.set_dimension_size"(%0, %n) {dimension = 1 : i64}'
        f" : ({kind(M)}, tensor<i32>) -> {kind(M)}",
        args=[M], result=M, note="where it changes nothing: JAX has no bounded dynamic sizes",
    ),
    "stablehlo.pad": op(
        "stablehlo.pad", [M, S], [positive(5, 6)],
        "edge_padding_low = array<i64: 1, -1>, edge_padding_high = array<i64: 1, 0>, "
        "interior_padding = array<i64: 0, 1>", smooth=(0, 1),
    ),
    "stablehlo.reshape": op("stablehlo.reshape", [M], [positive(2, 6)]),
    "stablehlo.reverse": op("stablehlo.reverse", [M], [M], "dimensions = array<i64: 1>"),
    "stablehlo.slice": op(
        "stablehlo.slice", [M], [positive(2, 2)], "start_indices = array<i64: 0, 1>, "
        "limit_indices = array<i64: 3, 3>, strides = array<i64: 2, 1>",
    ),
    "stablehlo.transpose": op(
        "stablehlo.transpose", [M], [M.T], "permutation = array<i64: 1, 0>"
    ),
    "stablehlo.tuple": text(
        f'%t = "stablehlo.tuple"(%0, %1) : ({kind(M)}, {kind(V)}) -> tuple<{kind(M)}, {kind(V)}>',
        '%r = "stablehlo.get_tuple_element"(%t) {index = 1 : i32} : '
        f"(tuple<{kind(M)}, {kind(V)}>) -> {kind(V)}",
        args=[M, V], result=V, smooth=(0, 1),
    ),
    "stablehlo.dynamic_broadcast_in_dim": text(
        shaped([3, 4]),
        '%r = "stablehlo.dynamic_broadcast_in_dim"(%0, %s) {broadcast_dimensions = '
        f"array<i64: 1>}} : ({kind(V)}, tensor<2xi64>) -> {kind(M)}",
        args=[V], result=M,
    ),
    "stablehlo.dynamic_iota": text(
        shaped([4]),
        '%r = "stablehlo.dynamic_iota"(%s) {iota_dimension = 0 : i64} '
        f": (tensor<1xi64>) -> {kind(V)}",
        args=[], result=V, smooth=(),
    ),
    "stablehlo.dynamic_reshape": text(
        shaped([4, 3]),
        f'%r = "stablehlo.dynamic_reshape"(%0, %s) : ({kind(M)}, tensor<2xi64>) -> {kind(M.T)}',
        args=[M], result=M.T,
    ),
    "stablehlo.dynamic_pad": text(
        "%l = stablehlo.constant dense<1> : tensor<1xi64>",
        "%h = stablehlo.constant dense<0> : tensor<1xi64>",
        '%r = "stablehlo.dynamic_pad"(%0, %1, %l, %h, %h) : '
        f"({kind(V)}, {kind(S)}, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>) -> tensor<5xf64>",
        args=[V, S], result="tensor<5xf64>", smooth=(0, 1),
    ),
    "stablehlo.real_dynamic_slice": text(
        "%l = stablehlo.constant dense<1> : tensor<1xi64>",
        "%h = stablehlo.constant dense<3> : tensor<1xi64>",
        '%r = "stablehlo.real_dynamic_slice"(%0, %l, %h, %l) : '
        f"({kind(V)}, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>) -> tensor<2xf64>",
        args=[V], result="tensor<2xf64>",
    ),
    "stablehlo.gather": op(
        "stablehlo.gather", [M, ROWS], [positive(2, 4)],
        f"{GATHER}, slice_sizes = array<i64: 1, 4>",
    ),
    "stablehlo.dynamic_gather": text(
        shaped([1, 4]),
        f'%r = "stablehlo.dynamic_gather"(%0, %1, %s) {{{GATHER}}} : '
        f"({kind(M)}, {kind(ROWS)}, tensor<2xi64>) -> tensor<2x4xf64>",
        args=[M, ROWS], result="tensor<2x4xf64>",
    ),
    "stablehlo.scatter": op(
        "stablehlo.scatter", [M, ROWS, positive(2, 4, seed=5)], [M], SCATTER,
        body("stablehlo.add"), smooth=(0, 2),
    ),
    "stablehlo.torch_index_select": op(
        "stablehlo.torch_index_select", [M, np.array([2, 0], I32)], [positive(2, 4)],
        "batch_dims = 0 : i64, dim = 0 : i64", note=REFUSED, expected=(M[[2, 0]],),
    ),
    "stablehlo.reduce": op(
        "stablehlo.reduce", [M, S], [positive(3)], "dimensions = array<i64: 1>",
        body("stablehlo.multiply"), smooth=(0, 1),
    ),
    "stablehlo.reduce_window": op(
        "stablehlo.reduce_window", [M, S], [positive(2, 2)], WINDOW,
        body("stablehlo.multiply"), smooth=(0, 1),
    ),
    "stablehlo.select_and_scatter": op(
        "stablehlo.select_and_scatter", [positive(4, 4), positive(2, 2, seed=4), np.float64(0.0)],
        [positive(4, 4)],
        "window_dimensions = array<i64: 2, 2>, window_strides = array<i64: 2, 2>",
        f"{SELECT}, {body('stablehlo.add')}", smooth=(1, 2),
    ),
    "stablehlo.sort": op("stablehlo.sort", [M], [M], "dimension = 1 : i64", SORT),
    "stablehlo.dot": op("stablehlo.dot", [M, V], [positive(3)], smooth=(0, 1)),
    "stablehlo.dot_general": op(
        "stablehlo.dot_general", [M, M.T], [SQUARE], DOT, smooth=(0, 1)
    ),
    "stablehlo.einsum": op(
        "stablehlo.einsum", [M, M.T], [SQUARE], 'einsum_config = "ij,jk->ik"', smooth=(0, 1)
    ),
    "stablehlo.unary_einsum": op(
        "stablehlo.unary_einsum", [M], [positive(3)], 'einsum_config = "ij->i"',
        note=REFUSED, expected=(M.sum(1),),
    ),
    "stablehlo.convolution": op(
        "stablehlo.convolution", [IMAGE, KERNEL], [positive(1, 3, 3, 3)], CONV, smooth=(0, 1)
    ),
    "stablehlo.dynamic_conv": text(
        "%s = stablehlo.constant dense<0> : tensor<2x2xi64>",
        f'%r = "stablehlo.dynamic_conv"(%0, %1, %s) {{{CONV}}} : '
        f"({kind(IMAGE)}, {kind(KERNEL)}, tensor<2x2xi64>) -> tensor<1x3x3x3xf64>",
        args=[IMAGE, KERNEL], result="tensor<1x3x3x3xf64>", smooth=(0, 1),
        note=REFUSED, expected=(np.einsum("hwijc,ijco->hwo", PATCHES, KERNEL)[None],),
    ),
    "chlo.ragged_dot": op(
        "chlo.ragged_dot", [*GROUPS, np.array([1, 3])],
        [positive(4, 2)], RAGGED, smooth=(0, 1), note="XLA's CPU refuses it",
        expected=(np.concatenate([GROUPS[0][:1] @ GROUPS[1][0], GROUPS[0][1:] @ GROUPS[1][1]]),),
    ),
    "stablehlo.cholesky": op(
        "stablehlo.cholesky", [DEFINITE], [DEFINITE], "lower = true"
    ),
    "stablehlo.triangular_solve": op(
        "stablehlo.triangular_solve", [SQUARE, positive(3, 2)], [positive(3, 2)],
        "left_side = true, lower = true, unit_diagonal = false, "
        "transpose_a = #stablehlo<transpose NO_TRANSPOSE>", smooth=(0, 1),
    ),
    "stablehlo.fft": op(
        "stablehlo.fft", [V], [complexes(3)],
        "fft_type = #stablehlo<fft_type RFFT>, fft_length = array<i64: 4>",
    ),
    "stablehlo.batch_norm_inference": bn(
        "inference", [M, V, V, V + 1, V + 2], [M], (0, 1, 2, 3, 4)
    ),
    "stablehlo.batch_norm_training": bn("training", [M, V, V], [M, V, V], (0, 1, 2)),
    "stablehlo.batch_norm_grad": bn(
        "grad", [M, V, V + 1, V + 2, M + 1], [M, V, V], (0, 1, 2, 3, 4)
    ),
    "stablehlo.rng_bit_generator": op(
        "stablehlo.rng_bit_generator", [np.array([1, 2], np.uint64)],
        ["tensor<2xui64>", "tensor<3xui32>"],
        "rng_algorithm = #stablehlo<rng_algorithm THREE_FRY>", smooth=(),
    ),
    "stablehlo.case": text(
        f'%r = "stablehlo.case"(%1) ({BRANCHES}) : (tensor<i32>) -> {kind(V)}',
        args=[V, I32(1)], result=V,
    ),
    "stablehlo.if": text(
        f'%r = "stablehlo.if"(%1) ({BRANCHES}) : (tensor<i1>) -> {kind(V)}',
        args=[V, np.bool_(True)], result=V,
    ),
    "stablehlo.while": text(LOOP, args=[V], result=V, note=(
        "backwards where its end is known; else forwards alone")),
    "chlo.scan": op(
        "chlo.scan", [M, V], [M, V],
        "dimension = 0 : i64, is_associative = false, is_reverse = false, "
        "operandSegmentSizes = array<i32: 1, 1>, resultSegmentSizes = array<i32: 1, 1>",
        SCAN, smooth=(0, 1),
    ),
    "stablehlo.composite": text(
        '%r = stablehlo.composite "my.sine" %0 {decomposition = @sine} '
        ": (tensor<4xf64>) -> tensor<4xf64>",
        args=[V], result=V, functions=SINE,
    ),
    "stablehlo.custom_call": text(
        '%r = stablehlo.custom_call @Sharding(%0) {mhlo.sharding = "{replicated}"}'
        f" : ({kind(V)}) -> {kind(V)}",
        args=[V], result=V,
        note="annotations and LAPACK; a call of anything else has no derivative",
    ),
    "stablehlo.async_start": text(
        f'%f = "stablehlo.async_start"(%0) ({{ ^bb0(%a: {kind(V)}):',
        f"  %b = stablehlo.slice %a [1:3] : ({kind(V)}) -> {kind(V[:2])}",
        f"  stablehlo.return %b : {kind(V[:2])}",
        f"}}) : ({kind(V)}) -> !stablehlo.future<{kind(V[:2])}>",
        f'%r = "stablehlo.async_done"(%f) : (!stablehlo.future<{kind(V[:2])}>) -> {kind(V[:2])}',
        args=[V], result=V[:2], note=REFUSED, expected=(V[1:3],),
    ),
    "stablehlo.optimization_barrier": op("stablehlo.optimization_barrier", [V], [V]),
    "stablehlo.create_token": text(
        "%t = stablehlo.create_token : !stablehlo.token",
        "%u = stablehlo.after_all %t : !stablehlo.token",
        f"%r = stablehlo.negate %0 : {kind(V)}",
        args=[V], result=V,
    ),
    "chlo.constant": text(
        "%r = chlo.constant dense<[1.0, 2.0]> : tensor<2xf64>", args=[], result=V[:2], smooth=()
    ),
    "chlo.constant_like": op(
        "chlo.constant_like", [V], [V], "value = 2.0 : f64", smooth=()
    ),
    "chlo.top_k": op("chlo.top_k", [M], [M[:, :2], np.zeros((3, 2), I32)], "k = 2 : i64"),
}  # fmt: skip

ARRAYS["stablehlo.async_done"] = ARRAYS["stablehlo.async_start"]
ARRAYS["stablehlo.get_tuple_element"] = ARRAYS["stablehlo.tuple"]
ARRAYS["stablehlo.after_all"] = ARRAYS["stablehlo.create_token"]
