"""A handler around the body of a function, made from a contract, over the FFI's C interface."""

from collections.abc import Iterator, Sequence
from typing import NoReturn

from kernel_magics.custom_call.build_compiler import Language
from kernel_magics.custom_call.contract import Contract
from kernel_magics.custom_call.contract_dims import Dimension, Tree
from kernel_magics.custom_call.contract_types import ArrayType, AttributeType, dtype_of, word_of
from kernel_magics.errors import UsageError

_TYPES = {
    "bool": "bool",
    "f16": "uint16_t",
    "bf16": "uint16_t",
    "f32": "float",
    "f64": "double",
    **{f"i{bits}": f"int{bits}_t" for bits in (8, 16, 32, 64)},
    **{f"u{bits}": f"uint{bits}_t" for bits in (8, 16, 32, 64)},
}
_COMPLEX = {
    "c++": {"c64": "std::complex<float>", "c128": "std::complex<double>"},
    "c": {"c64": "float _Complex", "c128": "double _Complex"},
}
_XLA = {"bool": "PRED", "bf16": "BF16", "c64": "C64", "c128": "C128"}

_HELPERS = """
static XLA_FFI_Error* km_fail(XLA_FFI_CallFrame* frame, const char* message) {
  XLA_FFI_Error_Create_Args args;
  memset(&args, 0, sizeof args);
  args.struct_size = XLA_FFI_Error_Create_Args_STRUCT_SIZE;
  args.message = message;
  args.errc = XLA_FFI_Error_Code_INVALID_ARGUMENT;
  return frame->api->XLA_FFI_Error_Create(&args);
}
static void* km_attribute(XLA_FFI_CallFrame* frame, const char* name, XLA_FFI_AttrType type) {
  for (int64_t i = 0; i < frame->attrs.size; i++) {
    XLA_FFI_ByteSpan* span = frame->attrs.names[i];
    if (span->len == strlen(name) && !memcmp(span->ptr, name, span->len))
      return frame->attrs.types[i] == type ? frame->attrs.attrs[i] : NULL;
  }
  return NULL;
}
"""


def handler_of_body(kind: Contract, symbol: str, language: Language) -> tuple[str, str]:
    """What stands before and behind the body of a function so that it is a handler.

    Args:
        kind: Says the names and types of what the body uses.
        symbol: The handler's name.
        language: Of the body.

    Raises:
        UsageError: The contract says what no plain pointer can be, such as `T[n]`.
    """
    arrays = _arrays(kind)
    parameters = [*_pointers(arrays, language, kind), *_numbers(kind, language)]
    head = f"static const char* km_body({', '.join(parameters) or 'void'}) {{\n"
    names = [name for name, _, _ in arrays] + [n for n, _ in _sizes(kind)]
    for name, attribute in kind.parts.attributes.items():
        names += [name, f"{name}_size"] if _has_size(attribute) else [name]
    checks = "\n".join(f"  {line}" for line in _checks(kind, arrays, language))
    prefix = 'extern "C" ' if language == "c++" else ""
    tail = f"""  return NULL;
}}
{_HELPERS}
{prefix}__attribute__((visibility("default"))) XLA_FFI_Error* {symbol}(XLA_FFI_CallFrame* frame) {{
  XLA_FFI_Metadata_Extension* km_asked = (XLA_FFI_Metadata_Extension*)frame->extension_start;
  if (km_asked && km_asked->extension_base.type == XLA_FFI_Extension_Metadata) {{
    km_asked->metadata->api_version.major_version = XLA_FFI_API_MAJOR;
    km_asked->metadata->api_version.minor_version = XLA_FFI_API_MINOR;
    return NULL;
  }}
{checks}
  const char* km_message = km_body({", ".join(names)});
  return km_message ? km_fail(frame, km_message) : NULL;
}}
"""
    return head, tail


Arrays = Sequence[tuple[str, ArrayType, bool]]
"""Name, type, and whether it is a result."""


def _arrays(kind: Contract) -> Arrays:
    arguments, results = kind.parts.arguments, kind.parts.results
    outs = ["out"] if len(results) == 1 else [f"out{i}" for i in range(len(results))]
    return [
        *((a.name or f"arg{i}", a, False) for i, a in enumerate(arguments)),
        *((r.name or outs[i], r, True) for i, r in enumerate(results)),
    ]


def _sizes(kind: Contract) -> list[tuple[str, Dimension]]:
    """Names of dimensions, in the order in which buffers tell them."""
    found: dict[str, Dimension] = {}
    for array in (*kind.parts.arguments, *kind.parts.results):
        for dimension in array.dims:
            if dimension.name is not None and dimension.name not in kind.parts.attributes:
                found.setdefault(dimension.name, dimension)
    if any(a.leading for a in kind.parts.arguments):
        found.setdefault("leading", Dimension("leading", ("name", "leading")))
    return list(found.items())


def _pointers(arrays: Arrays, language: Language, kind: Contract) -> Iterator[str]:
    for name, array, is_result in arrays:
        const = "" if is_result else "const "
        yield f"{const}{_c_type(array.dtypes, language, kind)}* {name}"


def _numbers(kind: Contract, language: Language) -> Iterator[str]:
    for name, _ in _sizes(kind):
        yield f"int64_t {name}"
    for name, attribute in kind.parts.attributes.items():
        if attribute.word == "str":
            yield f"const char* {name}"
        elif attribute.is_array:
            yield f"const {_c_type((attribute.word,), language, kind)}* {name}"
        else:
            yield f"{_c_type((attribute.word,), language, kind)} {name}"
        if _has_size(attribute):
            yield f"int64_t {name}_size"


def _has_size(attribute: AttributeType) -> bool:
    return attribute.is_array or attribute.word == "str"


def _c_type(words: Sequence[str], language: Language, kind: Contract) -> str:
    dtype = dtype_of(words[0]) if len(words) == 1 else None
    word = word_of(dtype) if dtype is not None else ""
    found = {**_TYPES, **_COMPLEX[language]}.get(word)
    if found is None:
        _refuse(kind, f"`{' | '.join(words)}` is no type of C")
    return found


def _xla_type(word: str) -> str:
    dtype = dtype_of(word)
    assert dtype is not None
    name = word_of(dtype)
    return f"XLA_FFI_DataType_{_XLA.get(name, name.upper().replace('I', 'S'))}"


def _checks(kind: Contract, arrays: Arrays, language: Language) -> Iterator[str]:
    """Statements that unpack the call, each after what must hold for it."""
    yield from _attributes(kind, language)
    arguments, results = len(kind.parts.arguments), len(kind.parts.results)
    yield f"if (frame->args.size != {arguments} || frame->rets.size != {results})"
    takes, gives = _counted(arguments, "argument"), _counted(results, "result")
    yield f'  return km_fail(frame, "it takes {takes} and gives {gives}");'
    counts = {False: 0, True: 0}
    known: set[str] = set(kind.parts.sizes())
    late: list[str] = []
    for name, array, is_result in arrays:
        place = f"rets.rets[{counts[True]}]" if is_result else f"args.args[{counts[False]}]"
        counts[is_result] += 1
        buffer, count = f"km_{name}", len(array.dims)
        wrong = f'return km_fail(frame, "`{name}` is no {array.type_text}");'
        yield f"XLA_FFI_Buffer* {buffer} = (XLA_FFI_Buffer*)frame->{place};"
        rank = f"{buffer}->rank {'<' if array.leading else '!='} {count}"
        yield f"if ({buffer}->dtype != {_xla_type(array.dtypes[0])} || {rank}) {wrong}"
        yield from _leading(array, buffer, known, wrong)
        for i, dimension in enumerate(array.dims):
            size = f"{buffer}->dims[{buffer}->rank - {count - i}]"
            if dimension.name is not None and dimension.name not in known:
                known.add(dimension.name)
                yield f"int64_t {dimension.name} = {size};"
            else:
                late.append(f"if ({size} != {_c_tree(dimension.tree)}) {wrong}")
        yield _pointer(name, array, buffer, language, kind, is_result=is_result)
    needed = [d for _, a, _ in arrays for d in a.dims] + list(kind.parts.conditions)
    if missing := sorted(n for d in needed for n in d.names() if n not in known):
        _refuse(kind, f"no dimension is `{missing[0]}` by itself")
    yield from late
    for condition in kind.parts.conditions:
        yield f'if (!({_c_tree(condition.tree)})) return km_fail(frame, "{condition} must hold");'


def _counted(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def _leading(array: ArrayType, buffer: str, known: set[str], wrong: str) -> Iterator[str]:
    if not array.leading:
        return
    product = f"km_product_{buffer}"
    yield f"int64_t {product} = 1;"
    yield f"for (int64_t i = 0; i < {buffer}->rank - {len(array.dims)}; i++)"
    yield f"  {product} *= {buffer}->dims[i];"
    if "leading" in known:
        yield f"if ({product} != leading) {wrong}"
    else:
        known.add("leading")
        yield f"int64_t leading = {product};"


def _pointer(
    name: str,
    array: ArrayType,
    buffer: str,
    language: Language,
    kind: Contract,
    *,
    is_result: bool,
) -> str:
    written = f"{'' if is_result else 'const '}{_c_type(array.dtypes, language, kind)}*"
    return f"{written} {name} = ({written}){buffer}->data;"


def _attributes(kind: Contract, language: Language) -> Iterator[str]:
    for name, attribute in kind.parts.attributes.items():
        form = "STRING" if attribute.word == "str" else "ARRAY" if attribute.is_array else "SCALAR"
        struct = {"STRING": "ByteSpan", "ARRAY": "Array", "SCALAR": "Scalar"}[form]
        found = f"km_attribute_{name}"
        wrong = f'return km_fail(frame, "the attribute `{name}` is no {attribute.type_text}");'
        yield f"XLA_FFI_{struct}* {found} = (XLA_FFI_{struct}*)"
        yield f'    km_attribute(frame, "{name}", XLA_FFI_AttrType_{form});'
        if attribute.word == "str":
            yield f"if (!{found}) {wrong}"
            yield f"const char* {name} = {found}->ptr;"
            yield f"int64_t {name}_size = (int64_t){found}->len;"
            continue
        written = _c_type((attribute.word,), language, kind)
        yield f"if (!{found} || {found}->dtype != {_xla_type(attribute.word)}) {wrong}"
        if attribute.is_array:
            yield f"const {written}* {name} = (const {written}*){found}->data;"
            yield f"int64_t {name}_size = (int64_t){found}->size;"
        else:
            yield f"{written} {name} = *({written}*){found}->value;"


def _c_tree(tree: Tree) -> str:
    if tree[0] == "int":
        return f"INT64_C({tree[1]})"
    if tree[0] == "name":
        return str(tree[1])
    left, right = _c_tree(tree[1]), _c_tree(tree[2])
    if tree[0] in ("max", "min"):
        return f"(({left}) {'>' if tree[0] == 'max' else '<'} ({right}) ? ({left}) : ({right}))"
    return f"({left} {'/' if tree[0] == '//' else tree[0]} {right})"


def _refuse(kind: Contract, problem: str) -> NoReturn:
    raise UsageError(
        f"A body cannot be called as its contract says: {problem}",
        details=[f"contract: {kind}"],
        advice="Change the contract, or write whole functions and "
        "`XLA_FFI_DEFINE_HANDLER_SYMBOL(name, function, binding)`.",
    )
