"""Where work and arrays are: which plugin is in use, and on which plugin an array lives."""

from collections.abc import Generator, Sequence
from contextlib import contextmanager
from typing import Any
from weakref import WeakKeyDictionary

import jax
from jax.core import Tracer

from kernel_magics import _jax_private
from kernel_magics.call.program import Program
from kernel_magics.errors import PlacementError
from kernel_magics.ir.types import aval_text


class Placement:
    """Names of clients: several say `cpu` of themselves, and a device says no more."""

    def __init__(self) -> None:
        # JAX holds a client as long as an array or a compiled function needs it.
        self._names: WeakKeyDictionary[Any, str] = WeakKeyDictionary()
        self._forgotten: WeakKeyDictionary[Any, None] = WeakKeyDictionary()

    def add(self, client: Any, name: str) -> None:
        """Names a client."""
        self._names[client] = name

    def forget(self, client: Any) -> None:
        """Marks a client as forgotten; its arrays may live on."""
        self._forgotten[client] = None

    def is_forgotten(self, client: Any) -> bool:
        """Whether its plugin was forgotten."""
        return client in self._forgotten

    def name_of(self, client: Any) -> str:
        """The plugin of a client."""
        if client in self._names:
            return self._names[client]
        known = [name for name, other in _jax_private.clients().items() if other is client]
        return known[0] if known else str(client.platform)

    def label(self, device: Any) -> str:
        """A device as `zml:0`: its plugin and its number there."""
        return f"{self.name_of(device.client)}:{device.id}"

    def where(self, tree: Any) -> str:
        """The plugins that the arrays of a tree live on, such as `zml`, or `cpu, zml`."""
        arrays = [leaf for leaf in jax.tree.leaves(tree) if isinstance(leaf, jax.Array)]
        names = [self._state(device.client) for array in arrays for device in array.devices()]
        return ", ".join(sorted(set(names)))

    def _state(self, client: Any) -> str:
        return f"{self.name_of(client)}{' (forgotten)' if self.is_forgotten(client) else ''}"

    def check(self, program: Program, args: Sequence[Any], device: Any) -> None:
        """Raises where an argument is bound to another device than the one in use.

        Args:
            program: What is called.
            args: With what.
            device: Where it is to run; None for the device in use.

        Raises:
            PlacementError: Names the argument, both devices, and the way to move it.
        """
        if callable(device):
            # An engine takes values from wherever they are.
            return
        if device is not None and self.is_forgotten(device.client):
            raise PlacementError(
                f"`@{program.entry}` is to run on `{self.label(device)}`, which was forgotten",
                details=["It was defined with `--on`, or given a `device`."],
                advice="Load the plugin again and run the cell again, or set `device = None`.",
            )
        for argument in args:
            if not isinstance(argument, Tracer) and getattr(argument, "committed", False):
                self._check_one(program, args, argument, device or default_device())

    def _check_one(self, program: Program, args: Sequence[Any], argument: Any, wanted: Any) -> None:
        devices = sorted(argument.devices(), key=lambda device: device.id)
        client = devices[0].client
        if not self.is_forgotten(client) and (
            wanted is None or wanted in devices or (len(devices) > 1 and wanted.client is client)
        ):
            return
        i = next(i for i, given in enumerate(args) if given is argument)
        name = self.name_of(client)
        target = wanted if wanted is not None else first_device(_jax_private.default_client())
        in_use = self.name_of(target.client)
        subject = f"Argument {i}{_named(program, i)} of `@{program.entry}`"
        what = f"{subject} is bound to {self._places(devices)}"
        if self.is_forgotten(client):
            what = f"{what}, which was forgotten"
            advice = f'`km.plugins.move(array, "{in_use}")` copies it: its values are still there.'
        else:
            what = f"{what}, and `{self.label(target)}` is in use"
            number = "" if target == first_device(target.client) else f", device={target.id}"
            advice = (
                f'`km.plugins.move(array, "{in_use}"{number})` copies it to the plugin in use; '
                f'`with km.plugins.using("{name}"):` calls where it is.'
            )
        given = f"given: {aval_text(argument)} on {self._places(devices)}"
        raise PlacementError(what, details=[given, f"in use: {self.label(target)}"], advice=advice)

    def _places(self, devices: Sequence[Any]) -> str:
        shown = f"`{self.label(devices[0])}`"
        return shown if len(devices) == 1 else f"{shown} and {len(devices) - 1} more devices"


def default_device() -> Any:
    """The device that JAX was told to use, here and now; None where it was told none."""
    device: Any = jax.config.jax_default_device  # pyright: ignore[reportAttributeAccessIssue]
    if isinstance(device, str):
        return first_device(_jax_private.clients()[device])
    return device


def first_device(client: Any) -> Any:
    """The first device of a client that this process can work with."""
    return client.local_devices()[0]


@contextmanager
def working_on(device: Any) -> Generator[None]:
    """Has JAX work on a device within a block, in this thread."""
    with jax.default_device(device):
        yield


def _named(program: Program, i: int) -> str:
    arguments = program.signature.arguments
    return f" (`%{arguments[i].name}`)" if i < len(arguments) and arguments[i].name else ""
