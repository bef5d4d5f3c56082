"""What kind of work an op does: the table behind the signs in a drawing."""

from typing import Literal

OpKind = Literal[
    "call",
    "elementwise",
    "reduce",
    "contraction",
    "data movement",
    "control",
    "custom call",
    "constant",
    "other",
]

SIGNS: dict[OpKind, str] = {
    "call": "ƒ",
    "elementwise": "∘",
    "reduce": "Σ",
    "contraction": "×",
    "data movement": "⇄",
    "control": "↻",
    "constant": "c",
    "other": "·",
}
"""One character each; a custom call has none, for a hexagon is drawn."""

CONSTANTS = frozenset({"stablehlo.constant", "arith.constant", "mhlo.constant", "sdy.constant"})
"""Ops that hold a value and nothing else: they are told beside their users."""

TRIVIAL = frozenset({"reshape", "broadcast_in_dim", "broadcast", "convert", "transpose"})
"""Ops, without their dialect, that give one operand another form: an edge can stand for them."""

_CALLS = "call composite async_start async_done"
_ELEMENTWISE = """
    abs add and atan2 cbrt ceil clamp compare complex convert cosine count_leading_zeros divide
    exponential exponential_minus_one floor imag is_finite log log_plus_one logistic maximum minimum
    multiply negate not or popcnt power real reduce_precision remainder round_nearest_afz
    round_nearest_even rsqrt select shift_left shift_right_arithmetic shift_right_logical sign sine
    sqrt subtract tan tanh uniform_quantize uniform_dequantize xor map bitcast_convert
    addf subf mulf divf addi subi muli cmpf cmpi
"""
_REDUCE = """
    reduce reduce_window all_reduce reduce_scatter select_and_scatter batch_norm_inference
    batch_norm_training batch_norm_grad top_k argmax argmin
"""
_CONTRACTIONS = """
    dot dot_general convolution dynamic_conv fft cholesky triangular_solve einsum unary_einsum
"""
_DATA_MOVEMENT = """
    all_gather all_to_all broadcast broadcast_in_dim collective_broadcast collective_permute
    concatenate copy create_token dynamic_broadcast_in_dim dynamic_gather dynamic_iota dynamic_pad
    dynamic_reshape dynamic_slice dynamic_update_slice gather get_dimension_size get_tuple_element
    infeed iota outfeed pad real_dynamic_slice recv reshape reverse rng rng_bit_generator scatter
    send set_dimension_size slice sort torch_index_select transpose tuple partition_id replica_id
    after_all cross-replica-sum reshard sharding_constraint
"""
_CONTROL = """
    while case if optimization_barrier for forall parallel manual_computation
    named_computation execute_region index_switch
"""


def _table() -> dict[str, OpKind]:
    groups: list[tuple[str, OpKind]] = [
        (_CALLS, "call"),
        (_ELEMENTWISE, "elementwise"),
        (_REDUCE, "reduce"),
        (_CONTRACTIONS, "contraction"),
        (_DATA_MOVEMENT, "data movement"),
        (_CONTROL, "control"),
        ("custom_call", "custom call"),
        ("constant", "constant"),
    ]
    return {name: kind for names, kind in groups for name in names.split()}


_KINDS = _table()


def op_kind(name: str) -> OpKind:
    """Returns the kind of an op by its name; dialects share the table, as they share the names."""
    _, _, bare = name.partition(".")
    if name.startswith("chlo."):
        # Whatever this dialect holds and the table does not is a function of each element.
        return _KINDS.get(bare, "elementwise")
    return _KINDS.get(bare or name, "other")


def is_trivial(name: str) -> bool:
    """Whether an op only gives its operand another shape, order or dtype."""
    dialect, _, bare = name.partition(".")
    return dialect in ("stablehlo", "mhlo") and bare in TRIVIAL
