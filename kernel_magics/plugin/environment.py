"""`PJRT_NAMES_AND_LIBRARY_PATHS`: plugins that JAX is told of by the environment.

One entry that cannot be opened makes each call of JAX fail, for JAX reads the variable again and
again and stops at the first fault.
"""

import json
import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from kernel_magics import _jax_private
from kernel_magics.plugin.found import Found
from kernel_magics.plugin.library_file import library_fault

VARIABLE = "PJRT_NAMES_AND_LIBRARY_PATHS"

_SOURCE = f"environment, {VARIABLE}"


def environment_plugins(text: str) -> Iterator[Found]:
    """What the variable's text offers, with what is wrong with each entry."""
    for entry in filter(None, (part.strip() for part in text.split(","))):
        name, separator, path = entry.partition(os.pathsep)
        if not separator or os.pathsep in path:
            wanted = f"NAME{os.pathsep}PATH"
            yield Found(entry, _SOURCE, fault=f"`{entry}` is not of the form `{wanted}`")
        elif path.endswith(".json"):
            yield _described(name, Path(path))
        else:
            yield Found(name, _SOURCE, path=Path(path), fault=library_fault(Path(path)))


def repair_environment() -> list[Found]:
    """Takes entries that would make JAX fail out of the variable, while JAX may still read it.

    Returns:
        Those entries, each with its fault.
    """
    text = os.environ.get(VARIABLE, "")
    if not text or _jax_private.has_looked_for_plugins():
        return []
    broken = [found for found in environment_plugins(text) if found.fault]
    if not broken:
        return []
    faulty = {found.name for found in broken}
    # JAX may have registered some before it failed, and would fail again at those.
    there = _jax_private.registered_platforms()
    parts = [part.strip() for part in text.split(",")]
    kept = [p for p in parts if p and _name(p) not in faulty and _name(p) not in there]
    if kept:
        os.environ[VARIABLE] = ",".join(kept)
    else:
        del os.environ[VARIABLE]
    return broken


def _name(entry: str) -> str:
    name, separator, path = entry.partition(os.pathsep)
    return name if separator and os.pathsep not in path else entry


def _described(name: str, path: Path) -> Found:
    """A plugin whose library and options stand in a JSON file."""
    try:
        content: Any = json.loads(path.read_text())
        library = Path(content["library_path"])
        options: Mapping[str, Any] = dict(content.get("create_options") or {})
    except OSError as error:
        return Found(name, _SOURCE, path=path, fault=f"it cannot be read: {error.strerror}")
    except (ValueError, TypeError, KeyError, AttributeError):
        wanted = '`{"library_path": "…", "create_options": {…}}`'
        return Found(name, _SOURCE, path=path, fault=f"it does not hold {wanted}")
    return Found(name, _SOURCE, path=library, options=options, fault=library_fault(library))
