"""The folder in which builds and copies of libraries are kept for all kernels; its size is limited.

An entry is a folder named by its kind and by a hash of all that it depends on. It is made beside
and renamed into place, so that kernels that make the same one do not meet.
"""

import contextlib
import hashlib
import os
import platform
import shutil
import sys
import tempfile
from collections.abc import Generator, Iterable
from dataclasses import dataclass
from pathlib import Path

from kernel_magics.errors import CustomCallError

FOLDER_VARIABLE = "KERNEL_MAGICS_CACHE"
LIMIT_VARIABLE = "KERNEL_MAGICS_CACHE_MIB"

_DEFAULT_LIMIT_MIB = 1024
_WORK = "work-"
_MIB = 1 << 20


def digest(*parts: str | bytes) -> str:
    """A hash of some texts, 32 hexadecimal digits; where one ends counts."""
    found = hashlib.sha256()
    for part in parts:
        content = part.encode() if isinstance(part, str) else part
        found.update(len(content).to_bytes(8, "little") + content)
    return found.hexdigest()[:32]


@dataclass(frozen=True, slots=True)
class Cache:
    """A folder of entries, shared by all kernels of a user."""

    folder: Path
    limit_bytes: int

    def find(self, kind: str, key: str) -> Path | None:
        """The folder of an entry, which is then used last; None where there is none."""
        entry = self.folder / kind / key
        try:
            os.utime(entry)
        except OSError:
            return None
        return entry

    @contextlib.contextmanager
    def workspace(self) -> Generator[Path]:
        """An empty folder to make an entry in; it is gone after the block."""
        _make_private(self.folder)
        self._sweep()
        folder = Path(tempfile.mkdtemp(prefix=_work_prefix(os.getpid()), dir=self.folder))
        try:
            yield folder
        finally:
            shutil.rmtree(folder, ignore_errors=True)

    def keep(self, kind: str, key: str, made: Path) -> Path:
        """Takes a folder that was made in a workspace as an entry; an equal one may be there."""
        entry = self.folder / kind / key
        _make_private(entry.parent)
        # Another kernel may have made it meanwhile: then there is a folder that is not empty.
        with contextlib.suppress(OSError):
            made.rename(entry)
        self.trim(keep=entry)
        return entry

    def trim(self, keep: Path | None = None) -> None:
        """Removes the entries that were not used for longest, until the rest is small enough.

        What a process has loaded stays with it: the system removes it when nobody uses it.

        Args:
            keep: An entry that stays.
        """
        entries = sorted(self._entries(), key=_used_at, reverse=True)
        total = 0
        for entry in entries:
            total += size_of(entry)
            if total > self.limit_bytes and entry != keep:
                _remove(entry, self.folder)

    def size_bytes(self) -> int:
        """What all entries take."""
        return sum(size_of(entry) for entry in self._entries())

    def _entries(self) -> Iterable[Path]:
        kinds = [k for k in _children(self.folder) if k.is_dir() and not k.name.startswith(_WORK)]
        return [entry for kind in kinds for entry in _children(kind)]

    def _sweep(self) -> None:
        """Removes the workspaces of processes of this machine that are gone."""
        mine = _work_prefix(None)
        for folder in _children(self.folder):
            if not folder.name.startswith(mine):
                continue
            pid = folder.name.removeprefix(mine).split("-", 1)[0]
            if pid.isdigit() and not _is_alive(int(pid)):
                shutil.rmtree(folder, ignore_errors=True)


def kernel_cache() -> Cache:
    """The cache of this user: where the environment says, else where such things belong."""
    limit = os.environ.get(LIMIT_VARIABLE, "")
    mib = int(limit) if limit.isdigit() else _DEFAULT_LIMIT_MIB
    return Cache(_folder(), mib * _MIB)


def size_of(entry: Path) -> int:
    """What the files of an entry take."""
    total = 0
    for folder, _, names in os.walk(entry):
        for name in names:
            with contextlib.suppress(OSError):
                total += (Path(folder) / name).stat().st_size
    return total


def _folder() -> Path:
    named = os.environ.get(FOLDER_VARIABLE)
    wanted = Path(named).expanduser().absolute() if named else _usual_folder()
    try:
        _make_private(wanted)
        if os.access(wanted, os.W_OK):
            return wanted
    except OSError:
        pass
    # A home that cannot be written to: the builds last as long as the machine runs.
    user = getattr(os, "getuid", int)()
    folder = Path(tempfile.gettempdir()) / f"kernel-magics-{user}"
    _make_private(folder)
    if sys.platform != "win32" and folder.stat().st_uid != user:
        raise CustomCallError(
            f"Builds cannot be kept: `{folder}` belongs to somebody else",
            advice=f"Set `{FOLDER_VARIABLE}` to a folder of your own.",
        )
    return folder


def _usual_folder() -> Path:
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches" / "kernel-magics"
    if sys.platform == "win32":
        local = os.environ.get("LOCALAPPDATA")
        return Path(local) / "kernel-magics" if local else Path.home() / ".kernel-magics"
    base = os.environ.get("XDG_CACHE_HOME")
    return (Path(base) if base else Path.home() / ".cache") / "kernel-magics"


def _make_private(folder: Path) -> None:
    """Makes a folder that others cannot write to: what lies in it is run."""
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)


def _work_prefix(pid: int | None) -> str:
    # The machine's name, too: homes may be shared.
    host = digest(platform.node())[:8]
    return f"{_WORK}{host}-" + (f"{pid}-" if pid is not None else "")


def _children(folder: Path) -> list[Path]:
    try:
        return list(folder.iterdir())
    except OSError:
        return []


def _used_at(entry: Path) -> float:
    try:
        return entry.stat().st_mtime
    except OSError:
        return 0.0


def _remove(entry: Path, root: Path) -> None:
    """Takes an entry away whole: nobody finds half of it."""
    gone = Path(tempfile.mkdtemp(prefix=_work_prefix(os.getpid()), dir=root))
    with contextlib.suppress(OSError):
        entry.rename(gone / entry.name)
    shutil.rmtree(gone, ignore_errors=True)


def _is_alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except OSError:
        return True
    return True
