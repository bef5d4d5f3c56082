"""Sandboxes of the tests."""

from collections.abc import Callable, Iterator

import pytest

from kernel_magics.sandbox.kernel import end, kernel_sandbox
from kernel_magics.sandbox.messages import REQUESTS
from kernel_magics.sandbox.process import Answer, Sandbox
from tests.sandbox.processes import PATIENCE_S


@pytest.fixture(scope="module")
def shared() -> Iterator[Sandbox]:
    """The sandbox of this process, as users of it find it."""
    yield kernel_sandbox()
    end()


@pytest.fixture(scope="module")
def puppet() -> Iterator[Sandbox]:
    """A sandbox whose child does what it is told, for every kind of request."""
    sandbox = Sandbox(dict.fromkeys(REQUESTS, "tests.sandbox.workers:act"))
    yield sandbox
    sandbox.end()


@pytest.fixture
def tell(puppet) -> Callable[..., object]:
    """Has the puppet do something, and gives what it says."""

    def do(action: str, *given: object, kind: str = "parse", **options) -> object:
        options = {"timeout_s": PATIENCE_S, **options}
        found = puppet.request(kind, {"action": action, "with": list(given)}, **options)
        return found.head["said"] if isinstance(found, Answer) else found

    return do
