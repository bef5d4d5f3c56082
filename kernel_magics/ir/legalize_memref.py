"""Constant globals in StableHLO: a load from one is an element of a constant."""

from jax.extend.mlir import ir

from kernel_magics.ir.legalize_rewriter import has_tensor_form

GET_GLOBAL = "memref.get_global"
_GLOBAL = "memref.global"
_LOAD = "memref.load"


def read_constant_globals(module: ir.Module) -> bool:
    """Turns loads from constant globals into `tensor.extract` from a constant, in place.

    Memory that is written, not initialized, of a layout of its own, or used by any other op
    stays as it is. The globals themselves stay too: nothing uses them any more.

    Args:
        module: A verified module.

    Returns:
        Whether something changed.
    """
    contents: dict[str, ir.DenseElementsAttr] = {}
    for view in module.body.operations:
        if view.operation.name == _GLOBAL and (content := _content(view.operation)) is not None:
            contents[ir.StringAttr(view.operation.attributes["sym_name"]).value] = content
    reads = [read for read in _reads(module) if _symbol(read) in contents]
    reads = [read for read in reads if all(use.owner.name == _LOAD for use in read.result.uses)]
    for read in reads:
        _replace(read, contents[_symbol(read)])
    return bool(reads)


def _content(operation: ir.Operation) -> ir.DenseElementsAttr | None:
    """What a global holds for ever, if that is known and StableHLO has such a tensor."""
    attributes = operation.attributes
    if "constant" not in attributes or "initial_value" not in attributes:
        return None
    kind = ir.MemRefType(ir.TypeAttr(attributes["type"]).value)
    tensor = ir.RankedTensorType.get(kind.shape, kind.element_type, loc=operation.location)
    # The binding has no class for constants of complex numbers and of small floats.
    try:
        value = attributes["initial_value"]
    except TypeError:
        return None
    is_plain = kind.affine_map == ir.AffineMap.get_identity(kind.rank, kind.context)
    if not isinstance(value, ir.DenseElementsAttr) or not is_plain or not has_tensor_form(tensor):
        return None
    return value


def _reads(module: ir.Module) -> list[ir.Operation]:
    found: list[ir.Operation] = []

    def visit(inner: ir.Operation) -> ir.WalkResult:
        if inner.name == GET_GLOBAL:
            found.append(inner.operation)
        return ir.WalkResult.ADVANCE

    for view in module.body.operations:
        # Names inside a nested module are its own.
        if view.operation.name == "func.func":
            view.operation.walk(visit, ir.WalkOrder.PRE_ORDER)
    return found


def _symbol(read: ir.Operation) -> str:
    return ir.FlatSymbolRefAttr(read.attributes["name"]).value


def _replace(read: ir.Operation, content: ir.DenseElementsAttr) -> None:
    with ir.InsertionPoint(read), read.location:
        values: dict[str, ir.Attribute] = {"value": content}
        constant = ir.Operation.create("stablehlo.constant", [content.type], [], values).result
    for load in [use.owner.operation for use in read.result.uses]:
        operands = [constant, *list(load.operands)[1:]]
        with ir.InsertionPoint(load), load.location:
            element = ir.Operation.create("tensor.extract", [load.result.type], operands).result
        load.result.replace_all_uses_with(element)
        load.erase()
    read.erase()
