"""Children that die, hang, lie or take all memory: an error, and the next request works."""

import os
import signal
import threading

import numpy as np
import pytest

from kernel_magics.errors import KernelMagicsError, SandboxError
from kernel_magics.ir.context import new_context
from kernel_magics.ir.parse import bytecode, parse
from kernel_magics.ir.source import Source
from kernel_magics.sandbox.messages import REQUESTS
from kernel_magics.sandbox.process import Answer, Refusal, Sandbox
from tests.sandbox.processes import (
    PATIENCE_S,
    comes_true,
    is_running,
    is_stopped,
    unread_bytes,
)

UNTOUCHED = "The kernel, its variables and its session are untouched."


def failure_of(tell, *given, **options) -> SandboxError:
    with pytest.raises(SandboxError) as error:
        tell(*given, **options)
    assert tell("tell")["mark"] == "1"
    return error.value


@pytest.mark.parametrize("kind", REQUESTS)
def test_a_child_killed_in_the_middle_is_an_error_and_is_replaced(puppet, kind):
    puppet.request("parse", {"action": "tell"}, timeout_s=PATIENCE_S)
    pid, pipe = puppet.pid, puppet._connection._process.stdin
    errors: list[Exception] = []

    def ask():
        try:
            puppet.request(kind, {"action": "tell"}, timeout_s=PATIENCE_S)
        except SandboxError as error:
            errors.append(error)

    # It stands still, so that the request cannot be over before it dies.
    os.kill(pid, signal.SIGSTOP)
    assert comes_true(lambda: is_stopped(pid))
    thread = threading.Thread(target=ask)
    thread.start()
    assert comes_true(lambda: unread_bytes(pipe) > 0)
    os.kill(pid, signal.SIGKILL)
    thread.join(PATIENCE_S)
    (error,) = errors
    assert (error.kind, error.signal, error.exit_code) == (kind, "SIGKILL", None)
    assert not error.is_timeout
    assert "ended the child process: SIGKILL after " in str(error)
    assert str(error).endswith("mostly from the system, when memory runs out.")
    found = puppet.request(kind, {"action": "tell"}, timeout_s=PATIENCE_S)
    assert isinstance(found, Answer)


def test_a_child_killed_while_idle_is_replaced_without_an_error(puppet, tell):
    tell("tell")
    pid = puppet.pid
    os.kill(pid, signal.SIGKILL)
    assert comes_true(lambda: puppet.pid is None)
    assert tell("tell")["session"] == puppet.pid != pid


@pytest.mark.parametrize("name", ["SIGSEGV", "SIGABRT", "SIGFPE", "SIGBUS", "SIGTERM", "SIGKILL"])
def test_signals_are_named(tell, name):
    error = failure_of(tell, "kill_with", name)
    assert (error.signal, error.exit_code, error.is_timeout) == (name, None, False)
    assert error.what == (
        f"Reading the program ended the child process: {name} after {error.seconds:.1f} s"
    )


def test_an_end_without_a_signal_tells_the_exit_code(tell):
    error = failure_of(tell, "exit_with", 3)
    assert (error.signal, error.exit_code) == ("", 3)
    assert "ended the child process: exit code 3 after" in error.what


def test_the_last_words_are_in_the_error(tell):
    text = "noise\n" * 100 + "F1130 10:00:00.1 7 a.cc:5] Check failed: n == 2 (3 vs. 2)\n"
    error = failure_of(tell, "die_saying", text, what="Trying `@main`")
    assert error.signal == "SIGABRT"
    assert error.suspect == "Check failed: n == 2 (3 vs. 2)"
    assert error.stderr[-1] == text.split("\n")[-2]
    assert str(error) == (
        f"Trying `@main` ended the child process: SIGABRT after {error.seconds:.1f} s\n"
        "  Check failed: n == 2 (3 vs. 2)\n"
        f"  {UNTOUCHED} Change what was tried."
    )


def test_words_of_earlier_requests_are_not_in_the_error(tell):
    tell("print_everywhere", 3)
    assert failure_of(tell, "exit_with", 3).stderr == ()


def test_a_child_that_hangs_with_pythons_lock_is_ended_in_time(tell):
    pid = tell("tell")["session"]
    error = failure_of(tell, "hang_holding_the_lock", timeout_s=0.5)
    assert error.is_timeout
    assert (error.signal, error.exit_code) == ("", None)
    assert str(error) == (
        "Reading the program gave no answer in 0.5 s, so its child process was ended\n"
        f"  {UNTOUCHED} Allow more time, or change what was tried."
    )
    assert not is_running(pid)


def test_a_child_that_does_not_read_is_ended_in_time(puppet, tell):
    tell("tell")
    os.kill(puppet.pid, signal.SIGSTOP)
    with pytest.raises(SandboxError) as error:
        puppet.request("run", {"action": "tell"}, [bytes(1 << 24)], timeout_s=0.5)
    assert error.value.is_timeout
    assert tell("tell")["mark"] == "1"


@pytest.mark.parametrize(
    "junk",
    [
        "Hello, world",
        "KMsb\0\0\0\x02{}",
        'KMsb\0\0\0\x2a{"kind": "answer", "head": {}, "blobs": 0} ',
        "KMsb\x7f\x7f\x7f\x7f",
    ],
)
def test_answers_that_are_none_are_an_error(tell, junk):
    error = failure_of(tell, "write_junk", junk)
    assert error.what == (
        "Reading the program in a child process failed: no message can be exchanged with it"
    )
    assert not error.is_timeout


def test_requests_that_are_no_json_are_an_error(puppet, tell):
    with pytest.raises(SandboxError) as error:
        puppet.request("parse", {"action": {1, 2}}, timeout_s=PATIENCE_S)
    assert "is not JSON serializable" in str(error.value)
    assert tell("tell")["mark"] == "1"


@pytest.mark.parametrize("kind", ["exit", "value", "base"])
def test_exceptions_are_answers_and_the_child_lives(puppet, tell, kind):
    tell("tell")
    pid = puppet.pid
    found = tell("refuse", kind)
    assert isinstance(found, Refusal)
    assert (
        found.type_name
        == {"exit": "SystemExit", "value": "ValueError", "base": "BaseException"}[kind]
    )
    assert found.text == "no"
    assert puppet.pid == pid


def test_workers_that_are_not_there_are_refusals():
    sandbox = Sandbox({"parse": "kernel_magics.nosuch:f", "run": "kernel_magics.errors:nosuch"})
    for kind, type_name in (
        ("parse", "ModuleNotFoundError"),
        ("run", "AttributeError"),
        ("compile", "KeyError"),
    ):
        found = sandbox.request(kind, {}, timeout_s=PATIENCE_S)
        assert isinstance(found, Refusal)
        assert found.type_name == type_name
    sandbox.end()


def test_memory_is_limited_while_a_request_is_answered(tell):
    found = tell("take_memory", 1 << 30, memory_bytes=1 << 28)
    assert isinstance(found, Refusal)
    assert found.type_name == "MemoryError"
    assert tell("take_memory", 1 << 26, memory_bytes=1 << 28) == 1 << 26
    assert tell("take_memory", 1 << 30) == 1 << 30
    assert tell("tell")["memory_limit"] == -1


def test_an_end_for_want_of_memory_tells_the_limit(tell):
    error = failure_of(tell, "take_memory_in_c", 1 << 30, memory_bytes=1 << 28)
    assert error.signal == "SIGABRT"
    assert str(error).split("\n")[1:3] == [
        "  terminate called after throwing an instance of 'std::bad_alloc'",
        "  memory that it might take: 256 MiB",
    ]


def test_what_is_printed_neither_spoils_answers_nor_shows_here(tell, capfd):
    # More than a pipe holds, many times: it is read all the while.
    assert tell("print_everywhere", 20_000) == ""
    assert tell("tell")["mark"] == "1"
    assert capfd.readouterr() == ("", "")


def test_a_declaration_ends_the_child_where_no_preflight_stops_it():
    text = """func.func private @f(tensor<3xf32>) -> tensor<3xf32>
func.func @main(%x: tensor<3xf32>) -> tensor<3xf32> {
  %0 = call @f(%x) : (tensor<3xf32>) -> tensor<3xf32>
  return %0 : tensor<3xf32>
}"""
    sandbox = Sandbox({"compile": "tests.sandbox.workers:die_for_the_program"})
    try:
        code = bytecode(parse(Source(text), new_context()))
        with pytest.raises(SandboxError) as error:
            sandbox.request("compile", {}, [code], timeout_s=PATIENCE_S, what="Trying `@main`")
        assert error.value.signal == "SIGSEGV"
        assert error.value.kind == "compile"
        good = bytecode(
            parse(
                Source(
                    text.replace(
                        "call @f(%x) : (tensor<3xf32>) -> tensor<3xf32>",
                        "stablehlo.add %x, %x : tensor<3xf32>",
                    ).split("\n", 1)[1]
                ),
                new_context(),
            )
        )
        assert isinstance(sandbox.request("compile", {}, [good], timeout_s=PATIENCE_S), Answer)
    finally:
        sandbox.end()


def test_a_child_that_cannot_start_is_an_error(monkeypatch):
    sandbox = Sandbox()
    monkeypatch.setattr("sys.executable", "/nonexistent/python")
    with pytest.raises(SandboxError) as error:
        sandbox.request("parse", {}, timeout_s=PATIENCE_S)
    assert error.value.what == (
        "Reading the program needs a child process, which cannot be started: "
        "[Errno 2] No such file or directory: '/nonexistent/python'"
    )
    monkeypatch.undo()
    monkeypatch.setattr("sys.path", [])
    with pytest.raises(SandboxError) as error:
        sandbox.request("parse", {}, timeout_s=PATIENCE_S)
    assert error.value.what.endswith("cannot be started: it ended with exit code 1")
    assert error.value.stderr[-1].startswith("ModuleNotFoundError: ")
    sandbox.end()


def test_errors_of_the_sandbox_are_ours_and_pythons():
    assert issubclass(SandboxError, KernelMagicsError)
    assert issubclass(SandboxError, RuntimeError)
    plain = SandboxError("what")
    assert (plain.kind, plain.signal, plain.exit_code, plain.seconds) == ("", "", None, 0)
    assert (plain.stderr, plain.suspect, plain.is_timeout) == ((), "", False)


def test_requests_of_several_threads_are_answered_one_by_one(puppet):
    found: dict[int, object] = {}

    def ask(number):
        content = np.full(100_000, number, np.uint8).tobytes()
        answer = puppet.request("parse", {"action": "tell"}, [content], timeout_s=PATIENCE_S)
        found[number] = answer.blobs == (content,)

    threads = [threading.Thread(target=ask, args=(number,)) for number in range(16)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(PATIENCE_S)
    assert found == dict.fromkeys(range(16), True)
