"""The trial of a plugin in a child process, and what its outcome means."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from kernel_magics.errors import SandboxError
from kernel_magics.plugin.found import Found
from kernel_magics.plugin.info import State
from kernel_magics.plugin.library_file import library_fault, missing_libraries
from kernel_magics.sandbox.last_words import meaningful
from kernel_magics.sandbox.messages import MessageError
from kernel_magics.sandbox.plugins import STAGE, Plugin, PluginFacts, plugin_facts
from kernel_magics.sandbox.process import Answer, Refusal, Sandbox

TARGETS = ("lapack_spotrf_ffi", "xla_ffi_python_cpu_callback")
"""Custom calls that JAX itself makes on CPUs: for `jax.numpy.linalg`, and for callbacks."""

_NO_DEVICE = re.compile(
    r"no (?:visible |supported )?(?:[a-z]+ )?(?:devices?|chips?)\b.*|no jellyfish device.*"
    r"|provides no devices.*|has no device",
    re.IGNORECASE,
)
_PHRASES = (
    (re.compile(r"[Uu]nexpected option name.*?: (\w+)"), "it has no option `{0}`"),
    (
        re.compile(
            r"major version \(?(\d+)\)?.*?framework PJRT API major version \(?(\d+)", re.DOTALL
        ),
        "it speaks PJRT {0}, and this JAX speaks PJRT {1}",
    ),
    (re.compile(r"(\S+): cannot open shared object file"), "the library `{0}` is missing"),
    (re.compile(r"undefined symbol: (\S+)"), "the symbol `{0}` is in no library that it needs"),
)
_LONGEST = 300


@dataclass(frozen=True, slots=True)
class Trial:
    """The outcome of one trial."""

    state: State
    reason: str = ""
    """Why it does not work; empty where it does."""
    words: tuple[str, ...] = ()
    """What the plugin or the system said, where that is more than the reason."""
    facts: PluginFacts | None = None
    seconds: float = 0.0
    """In the child, its start not counted."""


def quick_fault(found: Found) -> str:
    """What is wrong with a plugin, as far as its bytes tell; empty where they tell nothing."""
    if found.fault:
        return found.fault
    # A package may load what its library needs before JAX opens that.
    if found.module or found.path is None:
        return ""
    path = found.path.expanduser()
    if fault := library_fault(path):
        return fault
    missing = ", ".join(f"`{name}`" for name in missing_libraries(path))
    return f"libraries that it needs are missing: {missing}" if missing else ""


def probe(found: Found, sandbox: Sandbox, *, timeout_s: float, targets: Sequence[str]) -> Trial:
    """Looks at a plugin's bytes, then loads it in a child process and runs a small program.

    Raises:
        KeyboardInterrupt: The user did not want to wait; the child is ended.
    """
    fault = quick_fault(found)
    if fault:
        return Trial("broken", fault)
    plugin = Plugin(f"trial_{found.name}", found.path, found.options, found.module, targets)
    try:
        outcome = sandbox.request("probe_plugin", *plugin.message(), timeout_s=timeout_s)
    except SandboxError as error:
        return _ended(error, timeout_s)
    if isinstance(outcome, Refusal):
        return replace(_refused(outcome), seconds=outcome.seconds)
    return _answered(outcome)


def _answered(answer: Answer) -> Trial:
    try:
        return Trial("probed", facts=plugin_facts(answer), seconds=answer.seconds)
    except MessageError as error:
        return Trial("broken", str(error))


def _ended(error: SandboxError, timeout_s: float) -> Trial:
    stages = [line for line in error.stderr if line.startswith(STAGE)]
    stage = stages[-1].removeprefix(STAGE) if stages else ""
    at = f" at this step: {stage}" if stage else ""
    others = [line for line in error.stderr if not line.startswith(STAGE)]
    words = tuple(meaningful(others))
    if error.is_timeout:
        reason = f"it gave no answer in {timeout_s:g} s{at}"
    elif error.signal:
        reason = f"it ended its process with {error.signal}{at}"
    elif error.exit_code is not None:
        reason = f"it ended its process with exit code {error.exit_code}{at}"
    else:
        reason, words = error.what, error.details
    return Trial("broken", reason, words, seconds=error.seconds)


def _refused(refusal: Refusal) -> Trial:
    text = refusal.text.strip()
    words = tuple(line for line in text.split("\n") if line.strip())
    if found := _NO_DEVICE.search(text):
        return Trial("no device", f"it finds no device here: {_short(found[0])}", words)
    for pattern, phrase in _PHRASES:
        if found := pattern.search(text):
            return Trial("broken", phrase.format(*found.groups()), words)
    if refusal.type_name == "TypeError" and "NoneType" in text:
        return Trial("broken", "its `GetPjrtApi` gives no table of functions", words)
    first = f": {_short(words[0])}" if words else ""
    return Trial("broken", f"{refusal.type_name}{first}", words[1:])


def _short(words: str) -> str:
    line = words.split("\n", 1)[0].strip()
    return line if len(line) <= _LONGEST else line[:_LONGEST] + " …"
