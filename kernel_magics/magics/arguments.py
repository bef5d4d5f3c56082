"""Words on a magic's line: parsed without ending the kernel, and never expanded."""

import argparse
import keyword
import re
import shlex
from collections.abc import Sequence
from difflib import get_close_matches
from typing import NoReturn

from kernel_magics.errors import UsageError

_CHOICE = re.compile(r"invalid choice: '([^']*)' \(choose from (.*)\)")
_QUOTED = re.compile(r"[\w-]+")


class HelpShown(Exception):  # noqa: N818 - no error: the user asked
    """The help was printed; there is nothing else to do."""


class MagicParser(argparse.ArgumentParser):
    """An argument parser that raises where others exit."""

    def parse_line(self, line: str) -> argparse.Namespace:
        """Parses a magic's line; `#` begins a comment.

        Raises:
            UsageError: A word that is not understood, named.
            HelpShown: `--help` was asked for, and printed.
        """
        try:
            words = shlex.split(line, comments=True)
        except ValueError as error:
            raise UsageError(
                f"The line of `{self.prog}` cannot be read: {error}",
                details=[f"line: {line}"],
                advice="Close the quotation mark.",
            ) from error
        options = self.parse_args(words)
        _check_name(getattr(options, "name", None))
        return options

    def inner(self, words: Sequence[str]) -> "MagicParser":
        """The parser of the command among some words; this one where there is none."""
        for action in self._actions:
            commands = action.choices
            if isinstance(commands, dict):
                return next((commands[word] for word in words if word in commands), self)
        return self

    def words(self) -> list[str]:
        """What may stand on the line: options in full, and commands."""
        found = [action.option_strings[-1] for action in self._actions if action.option_strings]
        for action in self._actions:
            if not action.option_strings and action.choices is not None:
                found += map(str, action.choices)
        return found

    def choices(self, option: str) -> list[str] | None:
        """The values of an option; none where it takes any, None where it takes no value."""
        for action in self._actions:
            if option in action.option_strings and action.nargs != 0:
                return [str(choice) for choice in action.choices or ()]
        return None

    def help_of(self, option: str) -> str:
        """What an option does; empty where there is no such option."""
        found = [action.help for action in self._actions if option in action.option_strings]
        return next(filter(None, found), "")

    def error(self, message: str) -> NoReturn:
        """Raises; called by argparse."""
        choice = _CHOICE.search(message)
        close = get_close_matches(choice[1], _QUOTED.findall(choice[2]), 1) if choice else []
        hint = f"; did you mean `{close[0]}`?" if close else ""
        raise UsageError(
            f"`{self.prog}`: {message}{hint}",
            details=self.format_usage().strip().split("\n"),
            advice=f"`{self.prog.split()[0]} --help` explains the options.",
        )

    def exit(self, status: int = 0, message: str | None = None) -> NoReturn:
        """Called by argparse after it has printed the help."""
        del status, message
        raise HelpShown


def _check_name(name: object) -> None:
    """A unit's name is bound as a Python variable, so it must be able to be one.

    Raises:
        UsageError: It is no identifier, or a keyword.
    """
    if isinstance(name, str) and (not name.isidentifier() or keyword.iskeyword(name)):
        raise UsageError(
            f"`{name}` cannot be the name of a unit",
            details=["A name is made of letters, digits and underscores, and is no keyword."],
            advice="Nothing on this line is expanded: `{x}` and `$x` stand for themselves.",
        )


def cell_parser() -> MagicParser:
    """The parser of `%%hlo`."""
    parser = MagicParser(
        prog="%%hlo",
        description="Link the program of this cell into the session, bind its public functions, "
        "show the merged graph, compile the entry.",
    )
    parser.add_argument("name", metavar="NAME", nargs="?", help="name of this unit and its entry")
    parser.add_argument(
        "--func", metavar="FUNC", help="the entry; else @main or the only public one"
    )
    parser.add_argument(
        "--on",
        metavar="PLUGIN",
        help="the plugin that functions of this cell run on; else the one in use",
    )
    parser.add_argument(
        "--show",
        choices=("graph", "text", "symbols", "nothing"),
        default="graph",
        help="what the cell shows (default: graph)",
    )
    parser.add_argument(
        "--no-compile", action="store_true", help="link and show, compile when called"
    )
    parser.add_argument(
        "--trial",
        choices=("always", "auto", "never"),
        help="when it is tried in a child process first (default: auto, where nothing shows "
        "that it is safe)",
    )
    parser.add_argument(
        "--timeout",
        metavar="SECONDS",
        type=_seconds,
        help="how long a trial may take; runs whose end is not evident then have this limit, too",
    )
    return parser


def _seconds(word: str) -> float:
    seconds = float(word)
    if not 0 < seconds < float("inf"):
        raise ValueError
    return seconds


def custom_call_parser() -> MagicParser:
    """The parser of `%%custom_call`."""
    parser = MagicParser(
        prog="%%custom_call",
        description="Build a handler of the C++ or C source in this cell, try it in a child "
        "process, and have it serve a custom call's target, in functions compiled before, too.",
    )
    parser.add_argument("target", metavar="TARGET", help="the custom call's name in MLIR")
    parser.add_argument(
        "--language", choices=("c++", "c"), default="c++", help="of the source (default: c++)"
    )
    parser.add_argument(
        "--symbol", metavar="NAME", help="the handler; else the only one, or that of TARGET's name"
    )
    parser.add_argument(
        "--plugins", metavar="NAME[,NAME]", help="plugins on which it serves; else all of them"
    )
    parser.add_argument(
        "--vmap",
        choices=("sequential", "expand_dims", "broadcast_all"),
        help="how a batch of calls becomes one, as in `jax.ffi.ffi_call`",
    )
    parser.add_argument(
        "--no-trial", action="store_true", help="trust it without a first call in a child process"
    )
    parser.add_argument(
        "--timeout", metavar="SECONDS", type=_seconds, help="how long that call may take"
    )
    return parser


def line_parser() -> MagicParser:
    """The parser of `%hlo`."""
    parser = MagicParser(prog="%hlo", description="Look at the session and change it.")
    parts = parser.add_subparsers(dest="command", metavar="COMMAND", parser_class=MagicParser)
    parts.add_parser("module", help="the session module as MLIR text")
    parts.add_parser("functions", help="what can be called, and where it came from")
    parts.add_parser("graph", help="the merged graph of all functions")
    parts.add_parser("calls", help="targets of custom calls, and who serves them")
    doctor = parts.add_parser("doctor", help="what is known of the programs before they compile")
    doctor.add_argument("name", metavar="NAME", nargs="?", help="a unit; else all of them")
    parts.add_parser("plugins", help="device plugins, and which is in use")
    use = parts.add_parser("use", help="run everything from here on on a plugin that is loaded")
    use.add_argument("plugin", metavar="PLUGIN")
    use.add_argument(
        "--device", metavar="NUMBER", type=int, default=0, help="which of its devices (default: 0)"
    )
    load = parts.add_parser("load", help="link a file: text, bytecode or portable artifact")
    load.add_argument("file", metavar="FILE")
    load.add_argument("name", metavar="NAME", nargs="?")
    save = parts.add_parser("save", help="write the session to a file")
    save.add_argument("file", metavar="FILE")
    restore = parts.add_parser("restore", help="bring back a saved session")
    restore.add_argument("file", metavar="FILE")
    drop = parts.add_parser("drop", help="take a unit out of the session")
    drop.add_argument("name", metavar="NAME", nargs="+")
    drop.add_argument("--force", action="store_true", help="also when others are bound to it")
    parts.add_parser("reset", help="forget all units")
    return parser
