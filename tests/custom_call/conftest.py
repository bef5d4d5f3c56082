"""A registry of its own for each test, and places where calls are compiled."""

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from kernel_magics.call.serving import resolve_calls_with
from kernel_magics.custom_call.registry import CustomCallRegistry
from kernel_magics.ir.targets import resolve_targets_with
from tests.custom_call import places


@pytest.fixture(params=["native", "ctypes"])
def calls(request) -> Iterator[CustomCallRegistry]:
    """A registry, once with trampolines of machine code and once with those of ctypes."""
    yield from a_registry(native=request.param == "native")


@pytest.fixture
def registered() -> Iterator[CustomCallRegistry]:
    """A registry with the trampolines of this machine."""
    yield from a_registry(native=None)


def a_registry(*, native: bool | None) -> Iterator[CustomCallRegistry]:
    made = CustomCallRegistry(native=native)
    made.attend()
    before = resolve_calls_with(made.serving)
    yield made
    made.reset()
    resolve_calls_with(before)
    resolve_targets_with(before)


@pytest.fixture(params=places.PLACES)
def place(request) -> str:
    """The name of each place where calls are compiled."""
    return request.param


@pytest.fixture
def at(place) -> Callable[[CustomCallRegistry], Any]:
    """Gives the device of the place, reached by a registry."""
    return lambda registry: places.device(place, registry)
