"""Children end with their kernel, stay out of its Ctrl-C, and are not shared with copies of it."""

import os
import signal
import sys
import threading
from pathlib import Path

import pytest

from kernel_magics.sandbox.messages import REQUESTS
from kernel_magics.sandbox.process import Sandbox
from tests.sandbox.processes import (
    GONE_S,
    KERNEL,
    PATIENCE_S,
    SANDBOX,
    comes_true,
    finish,
    is_running,
    start_kernel,
)

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc")


@pytest.mark.parametrize(
    "busy",
    ["", "do('hang_holding_the_lock')", "do('print_everywhere', 10 ** 7)"],
    ids=["idle", "hung", "printing"],
)
def test_no_child_outlives_a_kernel_that_is_killed(busy):
    kernel = start_kernel(SANDBOX + "print('now', flush=True)\n" + (busy or "time.sleep(1000)"))
    pid = int(kernel.stdout.readline())
    assert kernel.stdout.readline() == "now\n"
    assert is_running(pid)
    kernel.kill()
    kernel.communicate(timeout=PATIENCE_S)
    assert comes_true(lambda: not is_running(pid), GONE_S)


def test_no_child_outlives_a_kernel_that_is_killed_while_it_starts():
    script = (
        SANDBOX.rsplit("\n", 2)[0]
        + "\nsandbox.warm_up()\nprint(sandbox.pid, flush=True)\ntime.sleep(1000)"
    )
    kernel = start_kernel(script)
    pid = int(kernel.stdout.readline())
    kernel.kill()
    kernel.communicate(timeout=PATIENCE_S)
    assert comes_true(lambda: not is_running(pid), GONE_S)


@pytest.mark.parametrize(
    "end", ["", "sys.exit(0)", "1 / 0", "os.kill(os.getpid(), signal.SIGTERM)", "os._exit(0)"]
)
def test_no_child_outlives_a_kernel_that_ends(end):
    kernel = start_kernel("import os, signal, sys\n" + KERNEL + end)
    pid = int(kernel.stdout.readline())
    kernel.communicate(timeout=PATIENCE_S)
    assert comes_true(lambda: not is_running(pid), GONE_S)


def test_a_thread_that_ends_takes_no_child_with_it():
    # Linux ends a child with the thread that started it: it must not be the one that asked.
    script = (
        SANDBOX.replace("print(do", "x = lambda: print(do").rsplit("\n", 1)[0]
        + """
thread = threading.Thread(target=x)
thread.start()
thread.join()
time.sleep(0.3)
print(do("tell")["session"])
sandbox.end()
"""
    )
    first, second = finish(start_kernel(script)).split()
    assert first == second


INTERRUPTED = """
try:
    {0}
    print("now", flush=True)
    {1}
except KeyboardInterrupt:
    print("interrupted", flush=True)
print(do("tell")["session"])
sandbox.end()
"""


def test_ctrl_c_gives_the_prompt_back_and_the_next_request_works(tmp_path):
    sign = tmp_path / "sign"
    kernel = start_kernel(
        SANDBOX + INTERRUPTED.format("pass", f"do('hang_holding_the_lock', {str(sign)!r})")
    )
    pid = int(kernel.stdout.readline())
    assert kernel.stdout.readline() == "now\n"
    assert comes_true(sign.exists)
    # To all of the terminal's processes, as Ctrl-C does.
    os.killpg(kernel.pid, signal.SIGINT)
    assert kernel.stdout.readline() == "interrupted\n"
    assert int(finish(kernel)) != pid
    assert not is_running(pid)


def test_ctrl_c_while_the_child_starts_gives_the_prompt_back():
    script = SANDBOX + INTERRUPTED.format(
        "sandbox.end(); sandbox.warm_up(); pid = sandbox.pid", "do('tell'); time.sleep(1000)"
    )
    kernel = start_kernel(script)
    assert kernel.stdout.readline()
    assert kernel.stdout.readline() == "now\n"
    os.killpg(kernel.pid, signal.SIGINT)
    assert kernel.stdout.readline() == "interrupted\n"
    assert finish(kernel).strip().isdigit()


def test_ctrl_c_is_none_of_an_idle_childs_business():
    kernel = start_kernel(SANDBOX + INTERRUPTED.format("do('tell')", "time.sleep(1000)"))
    pid = int(kernel.stdout.readline())
    assert kernel.stdout.readline() == "now\n"
    os.killpg(kernel.pid, signal.SIGINT)
    assert kernel.stdout.readline() == "interrupted\n"
    assert int(finish(kernel)) == pid


def test_copies_of_the_kernel_have_children_of_their_own():
    script = (
        KERNEL
        + """
import os, sys, warnings
warnings.simplefilter("ignore")
first = kernel_sandbox().pid
copy = os.fork()
if copy == 0:
    assert kernel_sandbox().pid is None
    assert convert_hlo(ADD + " ").bytecode
    print(kernel_sandbox().pid, flush=True)
    sys.exit(0)
assert os.waitpid(copy, 0)[1] == 0
assert kernel_sandbox().pid == first
assert convert_hlo(ADD + "  ").bytecode
print(kernel_sandbox().pid, flush=True)
"""
    )
    first, copied, again = map(int, finish(start_kernel(script)).split())
    assert first == again != copied
    assert not is_running(first)
    assert not is_running(copied)


def test_a_copy_made_in_the_middle_of_a_request_can_make_its_own(tmp_path):
    sign = tmp_path / "sign"
    script = (
        SANDBOX
        + f"""
import pathlib, warnings
warnings.simplefilter("ignore")
def hang():
    try:
        do("hang_holding_the_lock", {str(sign)!r})
    except RuntimeError:
        print("ended", flush=True)
thread = threading.Thread(target=hang)
thread.start()
while not pathlib.Path({str(sign)!r}).exists():
    time.sleep(0.01)
copy = os.fork()
if copy == 0:
    print(do("tell")["session"], flush=True)
    sandbox.end()
    os._exit(0)
assert os.waitpid(copy, 0)[1] == 0
print(sandbox.pid, flush=True)
sandbox.end()
thread.join()
"""
    )
    first, copied, again, ended = finish(start_kernel(script)).split()
    assert first == again != copied
    assert ended == "ended"


def test_a_copy_that_stays_keeps_no_child_of_a_kernel_that_is_gone():
    script = (
        KERNEL
        + """
import os, time, warnings
warnings.simplefilter("ignore")
if os.fork() == 0:
    print(os.getpid(), flush=True)
    time.sleep(1000)
time.sleep(1000)
"""
    )
    kernel = start_kernel(script)
    pid, copy = int(kernel.stdout.readline()), int(kernel.stdout.readline())
    kernel.kill()
    try:
        assert comes_true(lambda: not is_running(pid), GONE_S)
    finally:
        os.kill(copy, signal.SIGKILL)
    kernel.communicate(timeout=PATIENCE_S)


def test_nothing_is_left_after_the_end():
    def counts():
        children = [path.read_text() for path in Path("/proc/self/task").glob("*/children")]
        names = sorted(thread.name for thread in threading.enumerate())
        files = sorted(path.name for path in Path("/proc/self/fd").iterdir())
        return names, files, "".join(children).split()

    before = counts()
    for _ in range(2):
        sandbox = Sandbox(dict.fromkeys(REQUESTS, "tests.sandbox.workers:act"))
        sandbox.warm_up()
        found = sandbox.request("parse", {"action": "start_a_grandchild"}, timeout_s=PATIENCE_S)
        pid, grandchild = sandbox.pid, found.head["said"]
        assert is_running(pid)
        assert is_running(grandchild)
        assert str(pid) in counts()[2]
        sandbox.end()
        assert comes_true(lambda: not is_running(grandchild))  # noqa: B023
        assert not is_running(pid)
        assert sandbox.pid is None
        sandbox.end()
    assert counts() == before
