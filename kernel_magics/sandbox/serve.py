"""The child's loop: a request in, an answer out, until the kernel closes the pipe."""

import os
from collections.abc import Mapping
from typing import IO, Any

import jax

from kernel_magics.sandbox.last_words import BEGIN
from kernel_magics.sandbox.messages import (
    REQUESTS,
    Message,
    MessageError,
    read_message,
    write_message,
)
from kernel_magics.sandbox.work import perform, refusal

_STDERR = 2


def serve(requests: IO[bytes], answers: IO[bytes], options: Mapping[str, Any]) -> None:
    """Answers requests one after the other.

    Args:
        requests: Where they come from.
        answers: Where answers go to.
        options: `workers`, a function's name for each kind of request, and `config`, values
            of `jax.config` that count before the first use of a device.
    """
    for name, value in options["config"].items():
        jax.config.update(name, value)
    write_message(answers, Message("ready", {"jax": jax.__version__}))
    while (request := read_message(requests, REQUESTS)) is not None:
        os.write(_STDERR, f"\n{BEGIN}\n".encode())
        answer = perform(options["workers"], request)
        try:
            write_message(answers, answer)
        except MessageError as error:
            write_message(answers, refusal(error))
