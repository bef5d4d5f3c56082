"""`scf` in StableHLO: conditions and loops whose values are tensors or scalars."""

from collections.abc import Sequence

from jax.extend.mlir import ir

from kernel_magics.ir.legalize_build import can_be_full, compare, full, logical, signless
from kernel_magics.ir.legalize_rewriter import NoExactFormError, Rule, Site, Value


def _if(site: Site) -> Sequence[Value]:
    old, types = _check(site), site.result_types()
    condition = site.operand(0)
    new = _create("stablehlo.if", types, [condition])
    site.rewriter.retire(old)
    for number, region in enumerate(new.regions):
        block = region.blocks.append()
        blocks = old.regions[number].blocks
        values = site.rewriter.move_body(blocks[0], block, []) if len(blocks) else []
        _return(block, values, old)
    return new.results


def _for(site: Site) -> Sequence[Value]:
    old = _check(site)
    site.result_types()
    start, stop, step, *inits = site.operands()
    ordering = "UNSIGNED" if "unsignedCmp" in old.attributes else ""
    new = _create("stablehlo.while", [v.type for v in (start, *inits)], [start, *inits])
    site.rewriter.retire(old)
    condition, body = (_block(region, new) for region in new.regions)
    with ir.InsertionPoint(condition):
        holds = compare("LT", condition.arguments[0], stop, ordering)
    _return(condition, [holds], old)
    arguments = list(body.arguments)
    values = site.rewriter.move_body(old.regions[0].blocks[0], body, arguments)
    with ir.InsertionPoint(body):
        following = logical("add", arguments[0], step)
    _return(body, [following, *values], old)
    return list(new.results)[1:]


def _while(site: Site) -> Sequence[Value]:
    old = _check(site)
    before, after = (region.blocks[0] for region in old.regions)
    forwarded = list(list(before.operations)[-1].operation.operands)[1:]
    is_plain = forwarded == list(before.arguments)
    return _plain_while(site, before, after) if is_plain else _guarded_while(site, before, after)


def _plain_while(site: Site, before: ir.Block, after: ir.Block) -> Sequence[Value]:
    """The condition hands on what it was given, as in StableHLO."""
    old, inits = site.operation, site.operands()
    new = _create("stablehlo.while", [value.type for value in inits], inits)
    site.rewriter.retire(old)
    condition, body = (_block(region, new) for region in new.regions)
    holds, *_ = site.rewriter.move_body(before, condition, condition.arguments)
    _return(condition, [holds], old)
    _return(body, site.rewriter.move_body(after, body, body.arguments), old)
    return new.results


def _guarded_while(site: Site, before: ir.Block, after: ir.Block) -> Sequence[Value]:
    """The condition computes what it hands on: it becomes the body, the old body a branch in it.

    The loop carries whether to go on, the old arguments, and what was handed on last.
    """
    old, inits, kinds = site.operation, site.operands(), site.result_types()
    if not all(can_be_full(kind) for kind in kinds):
        raise NoExactFormError
    flag = full(site.rewriter.tensor_type(signless(1)), 1)
    carried = [flag, *inits, *(full(kind, 0) for kind in kinds)]
    new = _create("stablehlo.while", [value.type for value in carried], carried)
    site.rewriter.retire(old)
    condition, body = (_block(region, new) for region in new.regions)
    _return(condition, [condition.arguments[0]], old)
    end = 1 + len(inits)
    given = list(body.arguments)[1:end]
    going, *values = site.rewriter.move_body(before, body, given)
    following = _go_on(site, after, body, values, (going, given))
    _return(body, [going, *following, *values], old)
    return list(new.results)[end:]


def _go_on(
    site: Site,
    after: ir.Block,
    body: ir.Block,
    values: Sequence[Value],
    otherwise: tuple[Value, Sequence[Value]],
) -> Sequence[Value]:
    """The arguments of the next round: what `after` makes of `values`, if there is a next round."""
    if len(after.operations) == 1:
        return site.rewriter.move_body(after, body, values)
    going, given = otherwise
    with ir.InsertionPoint(body):
        branch = _create("stablehlo.if", [value.type for value in given], [going])
    then, other = (region.blocks.append() for region in branch.regions)
    _return(then, site.rewriter.move_body(after, then, values), site.operation)
    _return(other, given, site.operation)
    return branch.results


def _check(site: Site) -> ir.Operation:
    """The op, if all in its regions can live on tensors alone."""
    if not site.rewriter.can_move_bodies(site.operation):
        raise NoExactFormError
    for region in site.operation.regions:
        for block in region.blocks:
            for argument in block.arguments:
                site.rewriter.tensor_type(argument.type)
    return site.operation


def _create(name: str, types: Sequence[ir.Type], operands: Sequence[Value]) -> ir.Operation:
    """An op with two empty regions."""
    return ir.Operation.create(name, list(types), list(operands), regions=2)


def _block(region: ir.Region, loop: ir.Operation) -> ir.Block:
    """The block of a loop's region: its arguments are what the loop carries."""
    types = [value.type for value in loop.results]
    return region.blocks.append(*types, arg_locs=[loop.location] * len(types))


def _return(block: ir.Block, values: Sequence[Value], old: ir.Operation) -> None:
    with ir.InsertionPoint(block), old.location:
        ir.Operation.create("stablehlo.return", [], list(values))


SCF: dict[str, Rule] = {"scf.if": _if, "scf.for": _for, "scf.while": _while}
"""All ops of scf that have a rule."""
