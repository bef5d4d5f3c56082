"""`inspect` and `Inspector`: a module as a widget, drawn at once and asked in detail later."""

import base64
import os
import threading
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, cast

import anywidget
import traitlets

from kernel_magics.call.function import HloFunction
from kernel_magics.characters import visible_lines
from kernel_magics.errors import UsageError
from kernel_magics.graph.png import to_png
from kernel_magics.sessions import Session
from kernel_magics.widgets.answers import Answers
from kernel_magics.widgets.commands import read_command
from kernel_magics.widgets.diff import Diffs
from kernel_magics.widgets.drawing import DrawnModule, module_view
from kernel_magics.widgets.export import Forms, form_of
from kernel_magics.widgets.folding import MOST_DRAWN
from kernel_magics.widgets.ops import OpsAnswers
from kernel_magics.widgets.pages import becomes_a_page
from kernel_magics.widgets.protocol import ModuleView
from kernel_magics.widgets.protocol_commands import Answer, Command, LinesCommand, Reply
from kernel_magics.widgets.saved import SAVED_VIEW_TYPE, saved_view
from kernel_magics.widgets.subject import Snapshot, Subject, subject_of

_BUNDLE = Path(__file__).parents[1] / "static/inspector.js"
_NOT_BUILT = (
    "export default { render({ el }) { el.textContent = "
    "'The widget is not built: run `pip install -e .` in the checkout.'; } }"
)
# Sharp enough beside text; each display waits for it, and twice the pixels take twice the time.
_PNG_SCALE = 1.5
# What may take long, and so is answered from another thread than the one that runs the cells.
_LATER = ("find", "ops", "op", "op_at", "export", "versions", "diff", "version_lines")


def inspect(thing: Session | HloFunction) -> "Inspector":
    """Returns a widget that shows the functions of a session, or those that a function uses.

    Args:
        thing: `km.session`, another session, or a function of a unit.

    Raises:
        UsageError: It is something else.
    """
    return Inspector(thing)


class Inspector(anywidget.AnyWidget):
    """A module to look into: its call graph, its texts, its names."""

    _esm = _BUNDLE if _BUNDLE.is_file() else _NOT_BUILT
    view = traitlets.Dict().tag(sync=True)
    note = traitlets.Unicode().tag(sync=True)
    """What else the status line says, such as what a compile took."""
    first_tab = traitlets.Enum(("functions", "text", "symbols"), "functions").tag(sync=True)
    """What a view shows that opens."""
    is_outdated = traitlets.Bool(default_value=False).tag(sync=True)
    """Whether the module has changed since it was drawn."""

    def __init__(
        self,
        thing: Session | HloFunction,
        *,
        note: str = "",
        first_tab: str = "functions",
        words: str = "",
    ) -> None:
        """Draws the module as it is at this moment.

        Args:
            thing: A session, or a function of a unit.
            note: What else the status line says.
            first_tab: What a view shows that opens: `functions`, `text` or `symbols`.
            words: What stands for it where there is only text; else an outline.
        """
        if not isinstance(cast("object", thing), Session | HloFunction):
            raise UsageError(
                f"`inspect` takes a session or a function of a unit; a `{type(thing).__name__}` "
                "was given",
                advice="`km.inspect(km.session)` shows all that the notebook has linked.",
            )
        self._subject: Subject = subject_of(thing)
        self._opened: tuple[str, ...] = ()
        self._drawing = threading.Lock()
        self._words = words
        self._take()
        super().__init__(
            view=cast("dict[str, Any]", self._drawn.view), note=note, first_tab=first_tab
        )
        self.on_msg(self._receive)
        self._subject.on_change(self._notice_changes)

    def refresh(self) -> None:
        """Draws the module as it is at this moment."""
        self._opened = ()
        self._take()
        self.view = cast("dict[str, Any]", self._drawn.view)
        self._notice_changes()

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes what is drawn to a file, in the form that its name ends in.

        Args:
            path: `.svg` and `.png` for a picture, `.dot` for Graphviz, `.html` for a page that
                works without kernel and network.

        Raises:
            UsageError: The name ends in something else.
            OSError: The file cannot be written.
        """
        target = Path(path).expanduser()
        target.write_bytes(self._forms().content(form_of(target)))

    def close(self) -> None:
        """Ends the widget; what shows it says so."""
        if self.comm is not None:
            # A model of its own, which ipywidgets would leave open.
            self.layout.close()
        super().close()

    def _forms(self) -> Forms:
        return Forms(self._drawn, self._answers, self._ops, self.note)

    def _notice_changes(self) -> None:
        """Tells views whether the module is still the one that they show."""
        if self.comm is not None:
            self.is_outdated = self._subject.state() != self._state

    def _take(self) -> None:
        """Reads the module and draws it in another thread, so that Ctrl-C ends the waiting."""
        self._state = self._subject.state()
        snapshot = self._subject.snapshot()
        self._answers = Answers(snapshot, self._subject.printed)
        self._ops, self._diffs = OpsAnswers(self._answers), Diffs(self._answers)
        self._drawn = _in_thread(lambda: module_view(snapshot, self._opened))

    @property
    def _view(self) -> ModuleView:
        return self._drawn.view

    def _receive(self, _: object, content: Mapping[str, Any], __: object) -> None:
        command_id = str(content.get("id", ""))
        try:
            command = read_command(content)
            if command["kind"] in ("open", "close", "redraw"):
                self._redraw(command)
                return
            if command["kind"] in _LATER:
                self._answer_later(command)
                return
            self._reply(command_id, self._answer(command))
        # The boundary of the kernel: whatever went wrong is shown in the view.
        except Exception as error:  # noqa: BLE001
            self._fail(command_id, error)

    def _answer(self, command: Command) -> Answer:
        match command["kind"]:
            case "function":
                return self._answers.function(command["node"])
            case "symbols":
                return self._answers.symbols()
            case "text":
                return self._answers.text(command["text"])
            case _:
                lines = cast("LinesCommand", command)
                return self._answers.lines(lines["text"], lines["first"], lines["count"])

    def _answer_later(self, command: Command) -> None:
        """Reads, lays out, compares or searches in a thread: the shell thread goes on."""
        if command["kind"] in ("op", "op_at", "diff", "version_lines", "export"):
            # The session's module is printed where cells run, so never while one changes it.
            self._answers.merged_text()
        work = self._work(command)

        def reply() -> None:
            try:
                self._reply(command["id"], work())
            except Exception as error:  # noqa: BLE001 - as above
                self._fail(command["id"], error)

        threading.Thread(target=reply, daemon=True).start()

    def _work(self, command: Command) -> Callable[[], Answer]:
        """What answers a command, whatever this widget shows by then."""
        match command["kind"]:
            case "export":
                forms, form, function = self._forms(), command["form"], command["function"]
                return lambda: forms.answer(form, function)
            case "versions" | "diff" | "version_lines":
                diffs = self._diffs
                return lambda: diffs.answer(command)
            case _:
                ops, drawn = self._ops, self._drawn.drawn
                return lambda: ops.answer(command, drawn)

    def _redraw(self, command: Command) -> None:
        """Lays out in a thread and replies from there: the shell thread goes on."""
        opened = (*self._opened, command["group"]) if command["kind"] == "open" else ()
        if opened and len(self._view["nodes"]) >= MOST_DRAWN:
            raise ValueError(
                f"{MOST_DRAWN:,} functions are drawn: fold some before more are opened"
            )
        self._opened = opened
        if command["kind"] == "redraw":
            self._state = self._subject.state()
            self._answers = Answers(self._subject.snapshot(), self._subject.printed)
            self._ops, self._diffs = OpsAnswers(self._answers), Diffs(self._answers)
        snapshot = self._answers.snapshot
        threading.Thread(
            target=self._draw_and_reply, args=(command["id"], snapshot, opened), daemon=True
        ).start()

    def _draw_and_reply(self, command_id: str, snapshot: Snapshot, opened: tuple[str, ...]) -> None:
        try:
            with self._drawing:
                self._drawn = module_view(snapshot, opened)
                self.view = cast("dict[str, Any]", self._drawn.view)
                self._notice_changes()
            self._reply(command_id, {"digest": self._view["digest"]})
        except Exception as error:  # noqa: BLE001 - as above
            self._fail(command_id, error)

    def _reply(self, command_id: str, answer: Answer) -> None:
        reply: Reply = {
            "kind": "answered",
            "id": command_id,
            "answer": answer,
            "is_outdated": self._subject.state() != self._state,
        }
        self.send(cast("dict[str, Any]", reply))

    def _fail(self, command_id: str, error: Exception) -> None:
        message = str(error) or type(error).__name__
        reply: Reply = {"kind": "failed", "id": command_id, "message": message}
        self.send(cast("dict[str, Any]", reply))

    def __repr__(self) -> str:
        words = self._words or self._answers.snapshot.graph.to_text()
        return "\n".join(filter(None, [words.rstrip(), self.note]))

    def _repr_mimebundle_(self, **options: Any) -> tuple[dict[str, Any], dict[str, Any]]:
        return self.bundle(**options)

    def bundle(self, **options: Any) -> tuple[dict[str, Any], dict[str, Any]]:
        """The widget, and beside it what is shown where there is none; and metadata."""
        bundle, metadata = self.first_bundle(**options)
        # What a renderer of pictures cannot read is no reason for a cell to fail.
        with suppress(ValueError):
            png = to_png(bundle["image/svg+xml"], scale=_PNG_SCALE)
            bundle["image/png"] = base64.b64encode(png).decode("ascii")
        return bundle, metadata

    def first_bundle(self, **options: Any) -> tuple[dict[str, Any], dict[str, Any]]:
        """All but the PNG, which takes longer to draw than all else together."""
        is_page = becomes_a_page()
        widget = ({}, {}) if is_page else super()._repr_mimebundle_(**options) or ({}, {})
        static = {
            "text/plain": visible_lines(repr(self)),
            "image/svg+xml": self._forms().svg(),
            SAVED_VIEW_TYPE: saved_view(self._view, self._answers, self.note, self.first_tab),
        }
        return {**widget[0], **static}, widget[1]


def _in_thread(work: Callable[[], DrawnModule]) -> DrawnModule:
    """Does work whose time is limited by itself; raises what it raised."""
    done: list[DrawnModule | Exception] = []

    def run() -> None:
        try:
            done.append(work())
        except Exception as error:  # noqa: BLE001 - raised again below
            done.append(error)

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    thread.join()
    if isinstance(done[0], Exception):
        raise done[0]
    return done[0]
