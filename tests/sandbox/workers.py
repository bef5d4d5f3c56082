"""What children of the tests do in place of real work: imported in the child alone."""

import ctypes
import fcntl
import os
import pathlib
import resource
import signal
import stat
import sys
import time


def answer(head, blobs):
    return {"pid": os.getpid(), "given": dict(head)}, list(blobs)


def act(head, blobs):
    return {"said": ACTIONS[head["action"]](*head.get("with", []))}, blobs


def exit_with(code):
    os._exit(code)


def kill_with(name):
    os.kill(os.getpid(), getattr(signal, name))


def hang_holding_the_lock(sign=None):
    if sign:
        pathlib.Path(sign).touch()
    # `PyDLL` keeps Python's lock during the call, as C++ may.
    ctypes.PyDLL(None).sleep(1000)


def take_memory(size):
    return len(bytearray(size))


def take_memory_in_c(size):
    """What C++ code does that has no memory: it says so and aborts."""
    malloc = ctypes.CDLL(None).malloc
    malloc.restype = ctypes.c_void_p
    if malloc(ctypes.c_size_t(size)) is None:
        sys.stderr.write("terminate called after throwing an instance of 'std::bad_alloc'\n")
        sys.stderr.flush()
        os.abort()
    return size


def print_everywhere(count):
    sys.stdout.write("written\n")
    os.write(1, b"descriptor\n" * count)
    os.write(2, b"x" * 100 * count + b"\n")
    libc = ctypes.CDLL(None)
    libc.puts(b"puts")
    libc.fflush(None)
    return sys.stdin.read()


def write_junk(text):
    os.write(answers_pipe(), text.encode())
    time.sleep(1000)


def answers_pipe():
    for number in range(3, 30):
        try:
            is_pipe = stat.S_ISFIFO(os.fstat(number).st_mode)
            if is_pipe and fcntl.fcntl(number, fcntl.F_GETFL) & os.O_ACCMODE == os.O_WRONLY:
                return number
        except OSError:
            continue
    raise AssertionError


def refuse(kind):
    raise {"exit": SystemExit, "value": ValueError, "base": BaseException}[kind]("no")


def die_saying(text):
    sys.stderr.write(text)
    sys.stderr.flush()
    os.abort()


def die_for_the_program(_head, blobs):
    """Compiles without preflight, as a kernel without one would."""
    from jax.extend.backend import get_backend

    client = get_backend("cpu")
    client.compile_and_load(blobs[0], client.devices()[:1])
    return {}, []


def tell():
    return {
        "core": resource.getrlimit(resource.RLIMIT_CORE)[0],
        "sigint": signal.getsignal(signal.SIGINT) == signal.SIG_IGN,
        "session": os.getsid(0),
        "mark": os.environ["KERNEL_MAGICS_SANDBOX"],
        "path": sys.path,
        "memory_limit": resource.getrlimit(resource.RLIMIT_AS)[0],
        "xla": os.environ.get("XLA_FLAGS"),
    }


def nested():
    """A trial within the child is done in place."""
    from kernel_magics.sandbox.kernel import kernel_sandbox

    text = b"func.func private @f()"
    head = {"is_text": True, "name": "text", "first_line": 1}
    done = kernel_sandbox().request("parse", head, [text], timeout_s=5)
    return [type(done).__name__, kernel_sandbox().pid]


def start_a_grandchild():
    import subprocess

    return subprocess.Popen([sys.executable, "-c", "import time; time.sleep(1000)"]).pid


ACTIONS = {
    function.__name__: function
    for function in (
        exit_with,
        kill_with,
        hang_holding_the_lock,
        take_memory,
        take_memory_in_c,
        print_everywhere,
        write_junk,
        refuse,
        die_saying,
        tell,
        nested,
        start_a_grandchild,
    )
}
