"""`arith` in StableHLO: integers there have no sign, here they are signed unless said otherwise."""

from jax.extend.mlir import ir

from kernel_magics.ir.legalize_build import (
    bitcast,
    compare,
    convert,
    element,
    elementwise,
    full,
    is_bool,
    logical,
    make,
    same_bits,
    select,
    sign_extend,
    signless,
    tensor_type,
    truncate,
    unsigned,
    width,
    zero_extend,
)
from kernel_magics.ir.legalize_rewriter import NoExactFormError, Rule, Site, Value

_WIDEST_PRODUCT = 32
_TO_NEAREST_EVEN = 0

# XLA's CPU compiler goes through f32 to narrower floats, and so rounds twice what f32 cannot hold.
_WAY_STATION_BITS, _WAY_STATION_DIGITS = 32, 24

# On NaN, `EQ`, `LT` and the like are false and `NE` is true, as IEEE 754 has it.
_DIRECT = {1: "EQ", 2: "GT", 3: "GE", 4: "LT", 5: "LE", 13: "NE"}
_NOT_ORDERED = {9: "LE", 10: "LT", 11: "GE", 12: "GT"}
"""Predicates that hold where the opposite does not: `ugt` is not `ole`."""
_ONE, _ORD, _UNO = 6, 7, 14
_ALWAYS_FALSE, _ALWAYS_TRUE = 0, 15

_INTEGER_PREDICATES = ("EQ", "NE", "LT", "LE", "GT", "GE", "LT", "LE", "GT", "GE")
_FIRST_SIGNED, _FIRST_UNSIGNED = 2, 6


def _integer(name: str, on_bits: str | None = None) -> Rule:
    """The same op for signed integers, another one for single bits."""

    def rule(site: Site) -> list[Value]:
        kind = site.result_type()
        chosen = on_bits if is_bool(kind) else name
        if chosen is None:
            raise NoExactFormError
        return [make(f"stablehlo.{chosen}", site.operands(), kind)]

    return rule


def _natural(name: str, on_bits: str | None = None) -> Rule:
    """The same op for natural numbers, another one for single bits."""

    def rule(site: Site) -> list[Value]:
        if is_bool(site.result_type()):
            return list(_integer(name, on_bits)(site))
        left, right = (unsigned(value) for value in site.operands())
        return [same_bits(logical(name, left, right))]

    return rule


def _maxnum(name: str) -> Rule:
    """A number beats NaN."""

    def rule(site: Site) -> list[Value]:
        left, right = site.operands()
        of_numbers = select(compare("NE", right, right), left, logical(name, left, right))
        return [select(compare("NE", left, left), right, of_numbers)]

    return rule


def _compare_integers(site: Site) -> list[Value]:
    predicate = ir.IntegerAttr(site.operation.attributes["predicate"]).value
    left, right = site.operands()
    if predicate >= _FIRST_UNSIGNED:
        return [compare(_INTEGER_PREDICATES[predicate], left, right, "UNSIGNED")]
    if predicate >= _FIRST_SIGNED and is_bool(tensor_type(left)):
        # Set, the one bit is the sign: -1 < 0.
        left, right = right, left
    return [compare(_INTEGER_PREDICATES[predicate], left, right)]


def _compare_floats(site: Site) -> list[Value]:
    predicate = ir.IntegerAttr(site.operation.attributes["predicate"]).value
    left, right = site.operands()
    if predicate in _DIRECT:
        return [compare(_DIRECT[predicate], left, right)]
    if predicate in _NOT_ORDERED:
        return [logical("not", compare(_NOT_ORDERED[predicate], left, right))]
    if predicate in (_ORD, _UNO):
        direction, word = ("EQ", "and") if predicate == _ORD else ("NE", "or")
        return [logical(word, *(compare(direction, value, value) for value in (left, right)))]
    if predicate in (_ALWAYS_FALSE, _ALWAYS_TRUE):
        return [full(site.result_type(), predicate == _ALWAYS_TRUE)]
    one = logical("or", compare("LT", left, right), compare("GT", left, right))
    return [one if predicate == _ONE else logical("not", one)]


def _floor_divide(site: Site) -> list[Value]:
    return _divide_rounded(site, "subtract", "LT")


def _ceil_divide(site: Site) -> list[Value]:
    return _divide_rounded(site, "add", "GE")


def _divide_rounded(site: Site, step: str, sign: str) -> list[Value]:
    """StableHLO rounds to zero: one step away where the rest is on the other side."""
    kind = _wide(site)
    left, right = site.operands()
    zero, one = full(kind, 0), full(kind, 1)
    quotient, rest = logical("divide", left, right), logical("remainder", left, right)
    beyond = logical("xor", compare("LT", rest, zero), compare(sign, right, zero))
    is_off = logical("and", compare("NE", rest, zero), beyond)
    return [select(is_off, logical(step, quotient, one), quotient)]


def _ceil_divide_natural(site: Site) -> list[Value]:
    given = site.operands()
    zero = unsigned(full(_wide(site), 0))
    left, right = map(unsigned, given)
    quotient, rest = logical("divide", left, right), logical("remainder", left, right)
    is_off = compare("NE", rest, zero, "UNSIGNED")
    return [same_bits(logical("add", quotient, convert(is_off, tensor_type(left).element_type)))]


def _add_with_carry(site: Site) -> list[Value]:
    _wide(site)
    left, right = site.operands()
    total = logical("add", left, right)
    return [total, compare("LT", total, left, "UNSIGNED")]


def _multiply_wide(*, is_signed: bool) -> Rule:
    def rule(site: Site) -> list[Value]:
        kind = _wide(site)
        bits = width(kind)
        if bits > _WIDEST_PRODUCT:
            raise NoExactFormError
        extend = sign_extend if is_signed else zero_extend
        left, right = (extend(value, signless(2 * bits)) for value in site.operands())
        product = logical("multiply", left, right)
        high = logical("shift_right_logical", product, full(tensor_type(product), bits))
        return [truncate(product, kind.element_type), truncate(high, kind.element_type)]

    return rule


def _wide(site: Site) -> ir.RankedTensorType:
    """The type of a result that is more than one bit."""
    kind = site.result_type()
    if is_bool(kind):
        raise NoExactFormError
    return kind


def _round_float(site: Site) -> list[Value]:
    attributes = site.operation.attributes
    mode = "roundingmode"
    if mode in attributes and ir.IntegerAttr(attributes[mode]).value != _TO_NEAREST_EVEN:
        raise NoExactFormError
    value, kind = site.operand(0), site.result_type()
    if width(kind) < _WAY_STATION_BITS < width(tensor_type(value)):
        raise NoExactFormError
    return [convert(value, kind.element_type)]


def _from_integer(*, is_signed: bool) -> Rule:
    def rule(site: Site) -> list[Value]:
        # Other narrow floats overflow before f32 begins to round.
        is_wide = width(tensor_type(site.operand(0))) > _WAY_STATION_DIGITS
        if is_wide and element(site.result_type()) == "bf16":
            raise NoExactFormError
        return _from_signed(site) if is_signed else _from_natural(site)

    return rule


def _from_signed(site: Site) -> list[Value]:
    value, inner = site.operand(0), site.result_type().element_type
    if is_bool(tensor_type(value)):
        # As an integer first: negating the float would make -0.0 of false.
        value = sign_extend(value, signless(8))
    return [convert(value, inner)]


def _from_natural(site: Site) -> list[Value]:
    value, inner = site.operand(0), site.result_type().element_type
    return [convert(value if is_bool(tensor_type(value)) else unsigned(value), inner)]


def _to_signed(site: Site) -> list[Value]:
    value, kind = site.operand(0), site.result_type()
    if is_bool(kind):
        # StableHLO makes true of every float but zero; here 0.5 is cut to zero first.
        value = convert(value, signless(32))
    return [convert(value, kind.element_type)]


def _to_natural(site: Site) -> list[Value]:
    kind = site.result_type()
    if is_bool(kind):
        return _to_signed(site)
    inner = ir.IntegerType.get_unsigned(width(kind))
    return [same_bits(convert(site.operand(0), inner))]


def _sign_extend(site: Site) -> list[Value]:
    return [sign_extend(site.operand(0), site.result_type().element_type)]


def _zero_extend(site: Site) -> list[Value]:
    return [zero_extend(site.operand(0), site.result_type().element_type)]


def _truncate(site: Site) -> list[Value]:
    return [truncate(site.operand(0), site.result_type().element_type)]


def _bitcast(site: Site) -> list[Value]:
    return [bitcast(site.operand(0), site.result_type().element_type)]


def _index_cast(*, is_signed: bool) -> Rule:
    """`index` is a word of 64 bits here, as in what XLA compiles."""

    def rule(site: Site) -> list[Value]:
        value, inner = site.operand(0), site.result_type().element_type
        given, wanted = width(tensor_type(value)), width(site.result_type())
        if given == wanted:
            return [value]
        if given > wanted:
            return [truncate(value, inner)]
        return [sign_extend(value, inner) if is_signed else zero_extend(value, inner)]

    return rule


ARITH: dict[str, Rule] = {
    "arith.addf": elementwise("stablehlo.add"),
    "arith.subf": elementwise("stablehlo.subtract"),
    "arith.mulf": elementwise("stablehlo.multiply"),
    "arith.divf": elementwise("stablehlo.divide"),
    "arith.remf": elementwise("stablehlo.remainder"),
    "arith.negf": elementwise("stablehlo.negate"),
    "arith.maximumf": elementwise("stablehlo.maximum"),
    "arith.minimumf": elementwise("stablehlo.minimum"),
    "arith.maxnumf": _maxnum("maximum"),
    "arith.minnumf": _maxnum("minimum"),
    "arith.addi": _integer("add", "xor"),
    "arith.subi": _integer("subtract", "xor"),
    "arith.muli": _integer("multiply", "and"),
    "arith.divsi": _integer("divide"),
    "arith.remsi": _integer("remainder"),
    "arith.divui": _natural("divide"),
    "arith.remui": _natural("remainder"),
    "arith.floordivsi": _floor_divide,
    "arith.ceildivsi": _ceil_divide,
    "arith.ceildivui": _ceil_divide_natural,
    "arith.andi": _integer("and", "and"),
    "arith.ori": _integer("or", "or"),
    "arith.xori": _integer("xor", "xor"),
    "arith.shli": _integer("shift_left"),
    "arith.shrsi": _integer("shift_right_arithmetic"),
    "arith.shrui": _integer("shift_right_logical"),
    "arith.maxsi": _integer("maximum", "and"),
    "arith.minsi": _integer("minimum", "or"),
    "arith.maxui": _natural("maximum", "or"),
    "arith.minui": _natural("minimum", "and"),
    "arith.addui_extended": _add_with_carry,
    "arith.mulsi_extended": _multiply_wide(is_signed=True),
    "arith.mului_extended": _multiply_wide(is_signed=False),
    "arith.cmpi": _compare_integers,
    "arith.cmpf": _compare_floats,
    "arith.select": elementwise("stablehlo.select"),
    "arith.extf": _round_float,
    "arith.truncf": _round_float,
    "arith.convertf": _round_float,
    "arith.extsi": _sign_extend,
    "arith.extui": _zero_extend,
    "arith.trunci": _truncate,
    "arith.sitofp": _from_integer(is_signed=True),
    "arith.uitofp": _from_integer(is_signed=False),
    "arith.fptosi": _to_signed,
    "arith.fptoui": _to_natural,
    "arith.bitcast": _bitcast,
    "arith.index_cast": _index_cast(is_signed=True),
    "arith.index_castui": _index_cast(is_signed=False),
}
"""All ops of arith that have a rule; constants of scalars are read where they are used."""
