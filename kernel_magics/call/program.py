"""One function of one program, as a value: what a call of it carries through JAX's traces."""

import hashlib
from dataclasses import dataclass, field
from functools import lru_cache

from kernel_magics.ir.context import new_context
from kernel_magics.ir.entry import named_entry
from kernel_magics.ir.fingerprint import digest
from kernel_magics.ir.link import TAG_LENGTH
from kernel_magics.ir.signature import Signature, read_signature
from kernel_magics.ir.source import Source
from kernel_magics.ir.unit import ParsedUnit, read_unit


@dataclass(frozen=True, slots=True)
class Binding:
    """What a declaration of a program means."""

    name: str
    """The declared function, without `@`."""
    program: "Program"
    """The function it means; may itself have bindings, but never back to here."""


@dataclass(frozen=True, slots=True, eq=False)
class Program:
    """A function, the program it stands in, and what the declarations there mean.

    Equal when they say the same. Cheap to make: what is known of it is read from its source
    when first asked for.
    """

    source: Source
    entry: str
    bindings: tuple[Binding, ...] = ()
    _signature: Signature | None = field(default=None, init=False)
    _digest: str = field(default="", init=False)
    _key: str = field(default="", init=False)

    @property
    def signature(self) -> Signature:
        """Arguments and results."""
        if self._signature is None:
            op = parsed(self.source).index.by_name[self.entry]
            object.__setattr__(self, "_signature", read_signature(op, self.source))
        assert self._signature is not None
        return self._signature

    @property
    def digest(self) -> str:
        """What the whole program says, not how it is spelled."""
        if not self._digest:
            object.__setattr__(self, "_digest", digest(parsed(self.source).canonical))
        return self._digest

    @property
    def key(self) -> str:
        """Equal for programs that say the same, 64 hexadecimal digits."""
        if not self._key:
            used = [(binding.name, binding.program.key) for binding in self.bindings]
            said = repr((self.entry, self.digest, used)).encode(errors="surrogatepass")
            object.__setattr__(self, "_key", hashlib.sha256(said).hexdigest())
        return self._key

    def __eq__(self, other: object) -> bool:
        return self.key == other.key if isinstance(other, Program) else NotImplemented

    def __hash__(self) -> int:
        return hash(self.key)

    def __repr__(self) -> str:
        """Short and the same in every process: jaxprs print it."""
        return f"@{self.entry}_{self.source.tag[:TAG_LENGTH]}"


def read_program(source: Source, entry: str) -> Program:
    """The program of one function of a text.

    Raises:
        SourceError: It is not a program that we take.
        EntryError: It has no such function.
    """
    op = named_entry(parsed(source).index, entry, source)
    assert op.name is not None
    return Program(source, op.name)


@lru_cache(maxsize=4)
def parsed(source: Source) -> ParsedUnit:
    """A program in a context of its own, not to be changed; the last few are remembered."""
    return read_unit(source, new_context())
