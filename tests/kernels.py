"""A real IPython kernel, driven over its protocol."""

import os
from dataclasses import dataclass, field
from pathlib import Path
from queue import Empty
from time import monotonic
from typing import Any

from jupyter_client.manager import KernelManager

START_S = 120


@dataclass
class Reply:
    """What a cell did."""

    status: str
    """`ok`, `error`, or `dead` when the kernel was gone."""
    error: str = ""
    """Class of the exception."""
    message: str = ""
    output: str = ""
    seconds: float = 0.0
    data: list[dict[str, Any]] = field(default_factory=list)
    """MIME bundles that were displayed."""


class Kernel:
    """An IPython kernel with the extension loaded."""

    def __init__(self, setup: str = "%load_ext kernel_magics") -> None:
        self._manager = KernelManager(kernel_name="python3")
        self._manager.start_kernel(env={**os.environ, "PYTHONPATH": str(Path.cwd())})
        self._client = self._manager.blocking_client()
        self._client.start_channels()
        self._client.wait_for_ready(timeout=START_S)
        reply = self.run(setup)
        assert reply.status == "ok", reply

    @property
    def pid(self) -> int:
        return self._manager.provisioner.process.pid

    def send(self, code: str) -> str:
        """Sends a cell; `wait` gives what it did."""
        return self._client.execute(code)

    def interrupt(self) -> None:
        """What the stop button does."""
        self._manager.interrupt_kernel()

    def run(self, code: str, timeout_s: float = 120) -> Reply:
        """Runs a cell."""
        return self.wait(self.send(code), timeout_s)

    def wait(self, message_id: str, timeout_s: float = 120) -> Reply:
        """Waits until a cell is done or the kernel is gone."""
        began = monotonic()
        reply = Reply("ok")
        while True:
            try:
                message = self._client.get_iopub_msg(timeout=0.5)
            except Empty:
                if not self._manager.is_alive():
                    return Reply("dead", seconds=monotonic() - began)
                if monotonic() - began > timeout_s:
                    return Reply("hung", seconds=monotonic() - began)
                continue
            if message["parent_header"].get("msg_id") != message_id:
                continue
            content = message["content"]
            match message["msg_type"]:
                case "error":
                    reply.status, reply.error = "error", content["ename"]
                    reply.message = content["evalue"]
                case "stream":
                    reply.output += content["text"]
                case "execute_result" | "display_data" | "update_display_data":
                    reply.data.append(content["data"])
                case "status" if content["execution_state"] == "idle":
                    reply.seconds = monotonic() - began
                    return reply

    def close(self) -> None:
        """Ends it."""
        self._client.stop_channels()
        self._manager.shutdown_kernel(now=True)
