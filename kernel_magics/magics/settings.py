"""What a user can set once: in a profile, or with `%config KernelMagics`."""

from typing import Any

from traitlets import Enum, Float, List, Unicode, observe
from traitlets.config import Configurable

from kernel_magics.sandbox.policy import Policy, set_policy


class KernelMagics(Configurable):
    """Settings of Kernel Magics.

    `c.KernelMagics.trial = "never"` in a profile, `%config KernelMagics.trial = "never"` in a
    cell.
    """

    trial: Any = Enum(
        ("always", "auto", "never"),
        "auto",
        help="When a program is tried in a child process first: always, where nothing shows "
        "that it is safe (auto), or never.",
    ).tag(config=True)
    trial_timeout: Any = Float(
        Policy().timeout_s, help="How long such a trial may take, in seconds."
    ).tag(config=True)

    plugins: Any = List(
        Unicode(),
        help="Device plugins in order of preference: the first that works is loaded and used. "
        "The environment variable KERNEL_MAGICS_PLUGINS=cuda,cpu comes before it.",
    ).tag(config=True)

    def __init__(self, **given: Any) -> None:
        super().__init__(**given)
        self._apply()

    @observe("trial", "trial_timeout")
    def _apply(self, change: Any = None) -> None:
        del change
        set_policy(Policy(self.trial, self.trial_timeout))
