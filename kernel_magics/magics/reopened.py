"""Views of a notebook that was opened again: live where the session holds their module."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from IPython.core.interactiveshell import InteractiveShell

from kernel_magics.sessions import Session

if TYPE_CHECKING:
    from kernel_magics.widgets.inspector import Inspector

TARGET = "kernel-magics.view"
"""What the front end opens a comm to, with the digests of views that it kept."""

# Widgets are imported when the first view asks: they cost a third of a second.
# ruff: noqa: PLC0415


class ReopenedViews:
    """Answers which of a notebook's saved views show what the session holds."""

    def __init__(self, shell: InteractiveShell, session: Session) -> None:
        self._session = session
        self._inspector: Inspector | None = None
        # A terminal has no kernel, and so nobody who asks.
        kernel = getattr(shell, "kernel", None)
        self._comms: Any = getattr(kernel, "comm_manager", None)

    def listen(self) -> None:
        """Begins to answer."""
        if self._comms is not None:
            self._comms.register_target(TARGET, self.opened)

    def end(self) -> None:
        """Answers no more, and ends the widget that was made."""
        if self._comms is not None:
            self._comms.unregister_target(TARGET, self.opened)
        if self._inspector is not None:
            self._inspector.close()
            self._inspector = None

    def opened(self, comm: Any, message: Mapping[str, Any]) -> None:
        """Answers one question: `{"models": {DIGEST: WIDGET}}`, and nothing of other modules."""
        asked = message["content"]["data"].get("digests")
        digests = [digest for digest in asked if isinstance(digest, str)] if asked else []
        comm.send({"models": self._models(digests)})
        comm.close()

    def _models(self, digests: list[str]) -> dict[str, str]:
        from kernel_magics.widgets.drawing import digest
        from kernel_magics.widgets.inspector import Inspector
        from kernel_magics.widgets.subject import subject_of

        if not digests or not self._session.units:
            return {}
        made = self._inspector
        if made is None or made.comm is None or made.is_outdated:
            known = digest(subject_of(self._session).snapshot())
            if known not in digests:
                return {}
            made = self._inspector = Inspector(self._session)
        known = made.view["digest"]
        return {known: made.model_id} if known in digests and made.model_id else {}
