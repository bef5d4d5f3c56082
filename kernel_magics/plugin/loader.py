"""Plugins into this process: names that JAX keeps for good, and files that the system keeps."""

import importlib
import shutil
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from kernel_magics import _jax_private
from kernel_magics.errors import PluginError
from kernel_magics.plugin.found import Found
from kernel_magics.plugin.library_file import holds_word
from kernel_magics.sandbox.plugins import Option

MOST_DEVICES = 256
"""Of an extra CPU client: each has threads of its own."""


@dataclass(frozen=True, slots=True)
class Identity:
    """A file as it was when it was loaded."""

    path: str
    device: int
    number: int
    size_bytes: int
    changed_ns: int

    def content(self) -> tuple[int, ...]:
        """Equal for the same file unchanged, by whatever path."""
        return (self.device, self.number, self.size_bytes, self.changed_ns)

    def is_older_form_of(self, other: "Identity") -> bool:
        """Whether both are of one file, which was written in between."""
        is_same_file = (self.device, self.number) == (other.device, other.number)
        return is_same_file and self.content() != other.content()


@dataclass(frozen=True, slots=True)
class Loaded:
    """A plugin that works in this process."""

    client: Any
    api: Any
    """A capsule that holds its `PJRT_Api`; None for what is built in."""
    note: str = ""


# Of the process, as JAX's names of plugins and the system's libraries are: neither lets go of any.
_names: dict[str, tuple[Identity, Any]] = {}
_copies: list[tempfile.TemporaryDirectory[str]] = []


def load_found(
    found: Found, options: Mapping[str, Option], platforms: Sequence[str] = ()
) -> Loaded:
    """Loads a plugin that was found and makes a client of it; JAX is started before.

    A name is JAX's for good: a file that has changed gets the next one, `zml@2`.

    Args:
        found: Where it is.
        options: For its client.
        platforms: What its trial saw its package register with JAX.

    Raises:
        RuntimeError: JAX or the plugin refuse it, in their words.
    """
    if found.module:
        return _load_package(found, platforms)
    assert found.path is not None
    path = found.path.expanduser().absolute()
    identity = _identity(path)
    name = _name_for(found.name, identity)
    if name in _names:
        api = _names[name][1]
        return Loaded(_jax_private.start_client(name, options), api, _as_known(found.name, name))
    path = _loadable(path, identity)
    try:
        started = _jax_private.start_plugin(name, str(path), options)
    except BaseException:
        # Whatever it came to, JAX may have taken the name.
        _names[name] = (Identity("", -1, -1, -1, -1), None)
        raise
    _names[name] = (identity, started.api)
    return Loaded(started.client, started.api, _as_known(found.name, name))


def load_cpu(device_count: int) -> Loaded:
    """Makes one more client of the built-in CPU.

    Raises:
        PluginError: There cannot be so many devices.
    """
    if type(device_count) is not int or not 1 <= device_count <= MOST_DEVICES:
        raise PluginError(
            f"A CPU cannot have {device_count!r} devices",
            details=[f"expected: a whole number from 1 to {MOST_DEVICES}"],
            advice='For example `km.plugins.load("cpu4", devices=4)`.',
        )
    return Loaded(_jax_private.start_cpu_client(device_count), None)


def check_options(found: Found, options: Mapping[str, object]) -> None:
    """Raises where options are of no type that PJRT has, or of a name that the library lacks.

    Raises:
        PluginError: Says which.
    """
    for name, value in options.items():
        if not _is_option(value):
            raise PluginError(
                f"The option `{name}` of plugin `{found.name}` cannot be a "
                f"`{type(value).__name__}`",
                details=[f"given: {value!r}", "expected: bool, int, float, str, or a list of int"],
                advice="PJRT has no other types.",
            )
        if found.module:
            raise PluginError(
                f"Plugin `{found.name}` takes no options here",
                details=[f"given: {', '.join(options)}", f"its package sets them: {found.module}"],
                advice='Give the path of its library to load it with options: `path="…"`.',
            )
        if found.path is not None and not holds_word(found.path.expanduser(), str(name)):
            raise PluginError(
                f"Plugin `{found.name}` knows no option `{name}`",
                details=[f"the word is nowhere in {found.path}"],
                advice="Leave it out, or give it all the same with `force=True`.",
            )


def _is_option(value: object) -> bool:
    if isinstance(value, list):
        return all(type(number) is int for number in value)  # pyright: ignore[reportUnknownVariableType]
    return isinstance(value, bool | int | float | str)


def _load_package(found: Found, platforms: Sequence[str]) -> Loaded:
    before = set(_jax_private.registered_platforms())
    # JAX has called it, unless the package came after its start.
    names = [name for name in (*platforms, found.name) if name in before]
    if not names:
        module: Any = importlib.import_module(found.module)
        module.initialize()
        names = [name for name in _jax_private.registered_platforms() if name not in before]
    if not names:
        raise RuntimeError(f"{found.module}.initialize() registered no plugin with JAX")
    known = _jax_private.clients().get(names[0])
    if known is not None:
        return Loaded(known, None)
    started = _jax_private.start_platform(names[0])
    return Loaded(started.client, started.api, _as_known(found.name, names[0]))


def _name_for(name: str, identity: Identity) -> str:
    taken = _jax_private.registered_platforms()
    number, candidate = 1, name
    while candidate in taken or (candidate in _names and _names[candidate][0] != identity):
        number += 1
        candidate = f"{name}@{number}"
    return candidate


def _as_known(name: str, jax_name: str) -> str:
    return "" if name == jax_name else f"JAX knows it as `{jax_name}`"


def _identity(path: Path) -> Identity:
    status = path.stat()
    return Identity(str(path), status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns)


def _loadable(path: Path, identity: Identity) -> Path:
    """The file under a path by which the system does not take it for one that it has.

    It goes by the path, then by the number of the file, and looks at no content.
    """
    known = [other for other, _ in _names.values()]
    changed = [other for other in known if other.is_older_form_of(identity)]
    same_path = [other for other in known if other.path == identity.path]
    is_path_free = all(other.content() == identity.content() for other in same_path)
    if is_path_free and not changed:
        return path
    folder = tempfile.TemporaryDirectory(prefix="kernel_magics_plugin_", ignore_cleanup_errors=True)
    _copies.append(folder)
    other = Path(folder.name) / path.name
    if changed:
        shutil.copyfile(path, other)
    else:
        other.symlink_to(path.resolve())
    return other
