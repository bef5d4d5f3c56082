"""The error tree: what can go wrong, told to a person.

KernelMagicsError
├── SourceError            the text or bytes are not a program that we take
│   ├── FormatError        not MLIR at all, or from a version that cannot be read here
│   └── ParseError         MLIR's parser or verifier refused it; carries every diagnostic
├── EntryError             no function, or more than one, answers to the call
├── SignatureError         arguments do not fit the function
├── PrecisionError         64-bit types while `jax_enable_x64` is off
├── LinkError              two modules that cannot be one
├── PreflightError         XLA cannot compile it, or would end the process
├── CompileError           XLA refused it
│   └── CompileInterrupted the user did not want to wait
├── SandboxError           the child process that tried it died or did not answer
├── CustomCallError        a target, handler or library that cannot serve
│   ├── LibraryError       a file that is no library for this machine, or has no such handler
│   ├── BuildError         a handler's source that does not compile; carries every diagnostic
│   └── HandlerError       a handler that crashed, hung, overran or failed when it was tried
├── PluginError            a device plugin that is not there, does not work, or is not loaded
│   └── PlacementError     an array is on another device than the one in use
├── SessionError           no such unit, or a file that holds no session
└── UsageError             a magic or a query was given words it does not understand

Every message has four parts: what failed, where, expected against given, what to do next.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from kernel_magics.characters import visible_lines


class KernelMagicsError(Exception):
    """Base of every error of Kernel Magics.

    Args:
        what: What failed, as one sentence.
        where: Excerpts of the user's text with carets, one or more lines each.
        details: Expected against given, one line each.
        advice: What to do next, as whole sentences.
    """

    def __init__(
        self,
        what: str,
        *,
        where: Sequence[str] = (),
        details: Sequence[str] = (),
        advice: str = "",
    ) -> None:
        self.what = what
        self.where = tuple(where)
        self.details = tuple(details)
        self.advice = advice
        super().__init__(what)

    def __str__(self) -> str:
        parts = [self.what]
        parts += [_indent(excerpt) for excerpt in self.where]
        parts += [_indent(detail) for detail in self.details]
        if self.advice:
            parts.append(_indent(self.advice))
        # Names and texts of strangers stand in it; a terminal would act on what they hold.
        return visible_lines("\n".join(parts))

    def _render_traceback_(self) -> list[str]:
        """What IPython shows instead of a traceback; the cell fails all the same."""
        return [f"{type(self).__name__}: {self}"]


class SourceError(KernelMagicsError, ValueError):
    """The text or bytes are not a program that can be read."""


class FormatError(SourceError):
    """The input is not MLIR, or was written by a version that cannot be read here."""


@dataclass(frozen=True, slots=True)
class Diagnostic:
    """One thing that MLIR had to say."""

    message: str
    line: int
    """Line in the user's cell, from 1; 0 where MLIR names no place."""
    column: int
    """Column in bytes, from 1, as MLIR counts."""
    excerpt: str
    """The place, its line and a caret, ready to print; empty where MLIR names no place."""
    is_note: bool = False
    """Whether it explains the one before, such as where a name was used first."""


class ParseError(SourceError):
    """MLIR's parser or verifier refused the program.

    Attributes:
        diagnostics: All that MLIR said, lines counting in the user's cell.
    """

    diagnostics: tuple[Diagnostic, ...] = ()


class EntryError(KernelMagicsError, LookupError):
    """No function answers to the name asked for, or it is not clear which one is meant."""


class SignatureError(KernelMagicsError, TypeError):
    """The arguments do not fit the function's signature."""


class PrecisionError(KernelMagicsError, TypeError):
    """The function takes or gives 64-bit values while `jax_enable_x64` is off."""


class LinkError(KernelMagicsError, ValueError):
    """Two modules cannot be made one."""


class PreflightError(KernelMagicsError, ValueError):
    """The program cannot be compiled here, or compiling it would end the process."""


class CompileError(KernelMagicsError, RuntimeError):
    """XLA refused the program, or it failed while running."""


class CompileInterrupted(CompileError):  # noqa: N818 - named for what the user did
    """The user interrupted while a compile was going on."""


class SandboxError(KernelMagicsError, RuntimeError):
    """The child process that tried it died, did not answer in time, or could not be started.

    Attributes:
        kind: The kind of request, such as `compile`.
        signal: The signal that ended the child, such as `SIGSEGV`; empty where none did.
        exit_code: With which the child ended by itself; None where it did not.
        seconds: From the request to the end.
        stderr: The last lines that the child wrote, oldest first.
        suspect: The words of XLA or the C library on why the process must end; often empty.
        is_timeout: Whether the child was ended because it did not answer in time.
    """

    kind: str = ""
    signal: str = ""
    exit_code: int | None = None
    seconds: float = 0.0
    stderr: tuple[str, ...] = ()
    suspect: str = ""
    is_timeout: bool = False


class CustomCallError(KernelMagicsError, RuntimeError):
    """A custom call's target, handler or library cannot serve, or is not there."""


class LibraryError(CustomCallError):
    """A file is no library that this process can load, or has no such handler."""


class BuildError(CustomCallError):
    """The source of a handler does not compile, or there is no compiler.

    Attributes:
        diagnostics: All that the compiler said, lines counting in the user's cell.
    """

    diagnostics: tuple[Diagnostic, ...] = ()


class HandlerError(CustomCallError):
    """A handler crashed, hung, wrote where it must not, or failed when it was tried."""


class PluginError(KernelMagicsError, RuntimeError):
    """A device plugin is not there, does not work, is not loaded, or refuses what it is asked."""


class PlacementError(PluginError, ValueError):
    """An array is bound to another device than the one in use, or to one that was forgotten."""


class SessionError(KernelMagicsError, LookupError):
    """The session holds no such unit, or the file is not a saved session."""


class UsageError(KernelMagicsError, ValueError):
    """A magic or a query was given words that it does not understand."""


def _indent(text: str) -> str:
    return "\n".join(f"  {line}" if line else "" for line in text.split("\n"))
