"""Puts completion and inspection into a shell and its kernel, and takes them out again."""

from typing import Any

from IPython.core.interactiveshell import InteractiveShell

from kernel_magics.magics.editor.cell_text import CUSTOM_CALL, MAGIC
from kernel_magics.magics.editor.completion import complete, make_matcher
from kernel_magics.magics.editor.hover import meaning
from kernel_magics.sessions import Session

METADATA = "kernel_magics"
"""Under this name an answer says which characters of the cell it is about."""

_MATCHER = "kernel_magics_matcher"
_KINDS = "_jupyter_types_experimental"
"""Where front ends look for the kinds of completions."""


def add_editor(shell: InteractiveShell, session: Session) -> None:
    """Lets a shell complete and explain `%%hlo` cells."""
    completer: Any = shell.Completer
    completer.custom_matchers.append(make_matcher(session))
    kernel: Any = getattr(shell, "kernel", None)
    if kernel is not None and hasattr(kernel, "do_inspect"):
        kernel.do_inspect = _Inspection(kernel.do_inspect, session)
        kernel.do_complete = _Completion(kernel.do_complete, session)


def remove_editor(shell: InteractiveShell) -> None:
    """Leaves the shell as it was."""
    completer: Any = shell.Completer
    completer.custom_matchers[:] = [
        matcher
        for matcher in completer.custom_matchers
        if getattr(matcher, "__name__", "") != _MATCHER
    ]
    kernel: Any = getattr(shell, "kernel", None)
    for name, ours in (("do_inspect", _Inspection), ("do_complete", _Completion)):
        answer = getattr(kernel, name, None)
        if isinstance(answer, ours):
            setattr(kernel, name, answer.before)


class _Completion:
    """What a kernel offers for a word.

    IPython would have Python's names follow where ours have none, such as in a comment.
    """

    def __init__(self, before: Any, session: Session) -> None:
        self.before = before
        self._session = session

    def __call__(self, code: str, cursor_pos: int | None = None) -> Any:
        offset = len(code) if cursor_pos is None else cursor_pos
        found = complete(code, offset, self._session)
        if found is None:
            return self.before(code, cursor_pos)
        word, offered = found
        start = offset - len(word)
        kinds = [
            {"start": start, "end": offset, "text": one.text, "type": one.kind} for one in offered
        ]
        return {
            "status": "ok",
            "matches": [one.text for one in offered],
            "cursor_start": start,
            "cursor_end": offset,
            "metadata": {_KINDS: kinds},
        }


class _Inspection:
    """What a kernel answers when it is asked about a word.

    IPython finds the word with Python's tokenizer, which an apostrophe in a comment of MLIR
    leads astray; so the question is answered before it gets there.
    """

    def __init__(self, before: Any, session: Session) -> None:
        self.before = before
        self._session = session

    def __call__(
        self, code: str, cursor_pos: int, detail_level: int = 0, omit_sections: Any = ()
    ) -> Any:
        if not MAGIC.match(code) and not CUSTOM_CALL.match(code):
            return self.before(code, cursor_pos, detail_level, omit_sections)
        found = meaning(code, cursor_pos, self._session)
        reply: dict[str, Any] = {"status": "ok", "found": found is not None}
        if found is None:
            return reply | {"data": {}, "metadata": {}}
        span = {"start": found.start, "end": found.end}
        return reply | {"data": {"text/plain": str(found)}, "metadata": {METADATA: span}}
