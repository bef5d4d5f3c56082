"""Plugins of installed packages, found without importing or loading any of them.

The records of all packages are read as bytes: `importlib.metadata` takes several times as long.
"""

import configparser
import os
import re
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from kernel_magics.plugin.found import Found, plugin_name
from kernel_magics.plugin.library_file import library_fault, looks_like_plugin

GROUP = "jax_plugins"
"""Of entry points, and the name of the namespace package: JAX imports both at its start."""

_ENDINGS = {"linux": (b".so",), "win32": (b".dll",)}.get(sys.platform, (b".so", b".dylib"))
_HINT = re.compile(rb"pjrt|libtpu|xla[^/]*plugin", re.IGNORECASE)
_LARGE_BYTES = 64 << 20
"""Libraries of this size are looked into, whatever they are called: plugins hold a compiler."""


@dataclass(frozen=True, slots=True)
class _Distribution:
    """One installed package."""

    name: str
    version: str
    root: Path
    """What the paths of its record are relative to."""
    libraries: tuple[Path, ...]
    modules: tuple[tuple[str, str], ...]
    """Entry points for JAX: name and module."""


def installed_plugins(paths: Iterable[str] | None = None) -> list[Found]:
    """What the packages on a path offer.

    Args:
        paths: Where modules are looked for; `sys.path` by default.
    """
    folders = list(dict.fromkeys(paths if paths is not None else sys.path))
    distributions = [found for folder in folders for found in _distributions(Path(folder or "."))]
    modules = _modules(folders, distributions)
    used = {found.path for found in modules}
    libraries = [
        found for one in distributions for found in _libraries(one) if found.path not in used
    ]
    return [*modules, *libraries]


def _modules(folders: list[str], distributions: list[_Distribution]) -> list[Found]:
    """Modules that JAX imports: of entry points, and of the namespace package."""
    found: dict[str, Found] = {}
    for one in distributions:
        for name, module in one.modules:
            path = _library_of(module, one)
            source = f"package {one.name}, entry point {GROUP}"
            found.setdefault(module, Found(name, source, one.version, path, module))
    for folder in folders:
        for entry in _entries(Path(folder or ".") / GROUP):
            name = entry.name.removesuffix(".py")
            if not name.isidentifier() or name.startswith("__"):
                continue
            if entry.is_dir() or entry.name.endswith(".py"):
                module = f"{GROUP}.{name}"
                path = _library_in(Path(entry.path)) if entry.is_dir() else None
                known = found.get(module, Found(name, f"folder {entry.path}", module=module))
                if known.path is None:
                    known = Found(known.name, known.source, known.version, path, module)
                found[module] = known
    return list(found.values())


def _libraries(one: _Distribution) -> Iterator[Found]:
    """Libraries of a package that are plugins, without the package saying so to JAX.

    One that is called a plugin and is none for this machine is found with its fault.
    """
    faults = {path: _fault(path) for path in one.libraries}
    plugins = [path for path in faults if not faults[path] or "pjrt" in path.name.lower()]
    for path in plugins:
        stem = f"_{path.name.split('.')[0]}" if len(plugins) > 1 else ""
        name = plugin_name(one.name + stem)
        yield Found(name, f"package {one.name}", one.version, path, fault=faults[path])


def _fault(path: Path) -> str:
    """As `library_fault`, without reading headers of what looks as it should."""
    is_named = bool(_HINT.search(path.name.encode()))
    if looks_like_plugin(path):
        return "" if is_named else library_fault(path)
    return library_fault(path) if is_named else "it does not look like a plugin"


def _library_of(module: str, one: _Distribution) -> Path | None:
    """The library that lies beside a module."""
    folder = one.root.joinpath(*module.split("."))
    inside = [path for path in one.libraries if folder in path.parents]
    return next((path for path in inside if not _fault(path)), None)


def _library_in(folder: Path) -> Path | None:
    for entry in _entries(folder):
        if entry.name.encode().endswith(_ENDINGS) and not _fault(Path(entry.path)):
            return Path(entry.path)
    return None


def _distributions(folder: Path) -> Iterator[_Distribution]:
    for entry in _entries(folder):
        if entry.name.endswith(".dist-info"):
            found = _distribution(entry.path, folder)
            if found is not None:
                yield found


def _distribution(info: str, folder: Path) -> _Distribution | None:
    """A package that may offer plugins; None for all others."""
    record = _read(f"{info}/RECORD")
    libraries = tuple(_candidates(record, folder))
    modules = _entry_points(_read(f"{info}/entry_points.txt"))
    if not libraries and not modules:
        return None
    name, _, version = os.path.basename(info).removesuffix(".dist-info").rpartition("-")  # noqa: PTH119 - of an `os.DirEntry`
    return _Distribution(name.replace("_", "-"), version, folder, libraries, modules)


def _candidates(record: bytes, folder: Path) -> Iterator[Path]:
    """Files of a package that may be plugins, by name or by size."""
    for ending in _ENDINGS:
        mark = ending + b","
        at = record.find(mark)
        while at >= 0:
            begin = record.rfind(b"\n", 0, at) + 1
            path = record[begin : at + len(ending)]
            end = record.find(b"\n", at)
            size = record[at : end if end >= 0 else None].strip().rpartition(b",")[2]
            at = record.find(mark, at + 1)
            if _is_candidate(path, size):
                yield folder / path.decode(errors="replace").strip('"')


def _is_candidate(path: bytes, size: bytes) -> bool:
    name = path.rpartition(b"/")[2]
    if b".cpython-" in name or b".abi3." in name:
        return False
    return bool(_HINT.search(name)) or (size.isdigit() and int(size) >= _LARGE_BYTES)


def _entry_points(content: bytes) -> tuple[tuple[str, str], ...]:
    if GROUP.encode() not in content:
        return ()
    parser = configparser.ConfigParser(delimiters=("=",), interpolation=None)
    parser.optionxform = str  # pyright: ignore[reportAttributeAccessIssue] - names keep their case
    try:
        parser.read_string(content.decode(errors="replace"))
    except configparser.Error:
        return ()
    if GROUP not in parser:
        return ()
    return tuple((name, value.split(":")[0].strip()) for name, value in parser[GROUP].items())


def _entries(folder: Path) -> list[os.DirEntry[str]]:
    try:
        with os.scandir(folder) as entries:
            return sorted(entries, key=lambda entry: entry.name)
    except OSError:
        return []


def _read(path: str) -> bytes:
    try:
        with open(path, "rb") as file:  # noqa: PTH123 - hundreds of them
            return file.read()
    except OSError:
        return b""
