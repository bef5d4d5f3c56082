"""`%%custom_call`: from the source of a handler to a target that it serves."""

import argparse
import re
import time
from typing import Any

from IPython.core.interactiveshell import InteractiveShell
from IPython.display import DisplayHandle, display

from kernel_magics.characters import visible_lines
from kernel_magics.custom_call.build import Build, build
from kernel_magics.custom_call.library import Library
from kernel_magics.custom_call.registration import Registration
from kernel_magics.custom_call.registry import CustomCallRegistry
from kernel_magics.custom_call.trial import TrialReport, try_code
from kernel_magics.errors import CompileInterrupted, UsageError
from kernel_magics.magics.arguments import HelpShown, custom_call_parser
from kernel_magics.magics.display import TextView
from kernel_magics.magics.place import body_source
from kernel_magics.sandbox.policy import Policy, policy, using

_STEP_S = 0.5
_WARNINGS_SHOWN = 4


class BuildView:
    """What a `%%custom_call` cell shows: what goes on, then what came of it."""

    def __init__(self, shell: InteractiveShell, target: str) -> None:
        self.target = target
        self.lines: list[str] = []
        self.registration: Registration | None = None
        self._in_terminal = not hasattr(shell, "kernel")
        self._handle: DisplayHandle | None = None
        self._said_at = ("", 0.0)
        self._is_shown = False

    def tell(self, what: str, seconds: float) -> None:
        """Says what goes on; a terminal cannot take back what it printed, and is told once."""
        said, at = self._said_at
        if said == what and (self._in_terminal or time.monotonic() - at < _STEP_S):
            return
        self._said_at = (what, time.monotonic())
        clock = f" {seconds:.1f} s" if seconds >= 1 else ""
        self._show([f"{self.target}: {what} …{clock}"])

    def complete(self, lines: list[str], registration: Registration) -> None:
        """Says what came of it."""
        self.registration = registration
        self._show(lines)

    def withdraw(self) -> None:
        """Takes back what was said of something that then failed."""
        if self._handle is not None and not self._in_terminal:
            self._show([])

    def _show(self, lines: list[str]) -> None:
        self.lines, self._is_shown = lines, True
        if self._in_terminal and lines:
            print(self)  # noqa: T201 - a terminal is where this is printed
        elif self._handle is not None:
            self._handle.update(TextView(repr(self)))
        elif lines:
            self._handle = display(TextView(repr(self)), display_id=True)

    def __repr__(self) -> str:
        return visible_lines("\n".join(self.lines))

    def _repr_mimebundle_(self, **_: Any) -> dict[str, str]:
        return {"text/plain": repr(self)}

    def _ipython_display_(self) -> None:
        # At the end of its cell it has been shown.
        if not self._is_shown:
            display(TextView(repr(self)))
        self._is_shown = False


class CustomCallCell:
    """The `%%custom_call` magic of one shell."""

    __name__ = "custom_call"

    def __init__(self, shell: InteractiveShell, registry: CustomCallRegistry) -> None:
        self._shell = shell
        self._registry = registry
        self._raw_cell = ""

    def remember(self, info: Any) -> None:
        """Notes the cell that is about to run: its text before IPython took the magic off."""
        self._raw_cell = info.raw_cell or ""

    def __call__(self, line: str, cell: str) -> BuildView | None:
        """Builds a handler of the cell's source, tries it, and has it serve a target.

        `%%custom_call --help` lists the options.
        """
        try:
            options = custom_call_parser().parse_line(line)
        except HelpShown:
            return None
        view = BuildView(self._shell, options.target)
        limit = Policy(policy().when, options.timeout or policy().timeout_s)
        try:
            with using(limit):
                return self._run(cell, options, view)
        except KeyboardInterrupt:
            view.withdraw()
            raise CompileInterrupted(
                f"Interrupted while the handler of `{options.target}` was made; nothing goes on "
                "in the background",
                details=["The target keeps the handler that it had."],
                advice="Run the cell again.",
            ) from None
        except BaseException:
            view.withdraw()
            raise

    def _run(self, cell: str, options: argparse.Namespace, view: BuildView) -> BuildView:
        made = build(
            body_source(self._raw_cell, cell),
            language=options.language,
            name=options.target,
            progress=view.tell,
        )
        symbol = options.symbol or _symbol(made.library, options.target)
        code = made.library.handler(symbol)
        contract = made.unit.contract or self._known_contract(options.target)
        report = None
        if not options.no_trial:
            view.tell("trying it in a child process", 0)
            report = try_code(code, contract)
        before = self._registry.serving.now.registrations.get(options.target)
        registration = self._registry.register(
            options.target,
            handler=code,
            plugins=options.plugins.split(",") if options.plugins else None,
            contract=made.unit.contract,
            vmap_method=options.vmap,
            trial=not options.no_trial,
        )
        view.complete(_lines(options.target, made, report, before, registration), registration)
        return view

    def _known_contract(self, target: str) -> Any:
        known = self._registry.serving.now.registrations.get(target)
        return known.contract if known else None


def _symbol(library: Library, target: str) -> str | None:
    """The handler that a target means: the only one, or that of its name."""
    name = re.sub(r"\W", "_", target)
    if len(library.symbols) <= 1 or name not in library.symbols:
        if len(library.symbols) <= 1:
            return None
        raise UsageError(
            f"The cell has {len(library.symbols)} handlers, and none is called `{name}`",
            details=[f"handlers: {', '.join(library.symbols)}"],
            advice="`--symbol NAME` says which one is meant.",
        )
    return name


def _lines(
    target: str,
    made: Build,
    report: TrialReport | None,
    before: Registration | None,
    now: Registration,
) -> list[str]:
    cost = (
        "built before"
        if made.is_cached
        else f"built with {made.compiler.name} in {made.seconds:.1f} s"
    )
    tried = "not tried: --no-trial" if report is None else str(report)
    lines = [f"{target}: {cost} · {tried}"]
    if made.unit.contract is not None:
        lines.append(f"  {made.unit.contract}")
    if before is not None and before.served and before.served != now.served:
        lines.append("  replaces the handler before it, in functions compiled before, too")
    elif before is not None and before.served:
        lines.append("  is the handler that it was")
    lines += [warning.excerpt for warning in made.warnings[:_WARNINGS_SHOWN]]
    return lines
