"""Runs changed programs through `%%hlo` in a real shell and looks whether it lives.

`python -m tests.fuzz --corpus FOLDER [--count N] [--seed S] [--first K] [--out FOLDER]`

Each input has a number; with the seed it is the same everywhere, and `--first K --count 1` runs
it again. Fails when a shell died, did not answer in time, or held another session afterwards.
"""

import argparse
import json
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryFile, mkdtemp
from threading import Timer

from tests.mutations import mutant, read_seeds

LIMIT_S = 90
"""For one input: longer than any limit of ours."""
TRIAL_S = 20
WORDS = ("kernel_magics", "what()", "Check failed", "rror: ", "LLVM ERROR", "free()", "malloc")
"""What a line of a dead shell's stderr holds that is worth reading."""


@dataclass(frozen=True)
class Outcome:
    """What became of one input."""

    number: int
    what: str
    """`ok`, the class of the error, `died …`, `hung`, or `changed the session`."""
    seconds: float
    last_words: str = ""
    """Of a shell that died: where it was."""

    @property
    def is_fault(self) -> bool:
        """Whether it must not happen."""
        return self.what.startswith(("died", "hung", "changed", "not ours"))


class Shell:
    """A process with a shell, to which inputs are given one by one."""

    def __init__(self, corpus: Path, seed: int) -> None:
        command = [
            sys.executable,
            "-X",
            "faulthandler",
            "-m",
            "tests.fuzz",
            "--corpus",
            str(corpus),
            "--seed",
            str(seed),
            "--serve",
        ]
        self._stderr = TemporaryFile()  # noqa: SIM115 - as long as the shell lives
        self._process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._stderr,
            text=True,
        )
        self._hung = False

    def run(self, number: int) -> Outcome:
        """Runs one input; afterwards the shell may be dead."""
        process = self._process
        assert process.stdin is not None
        assert process.stdout is not None
        began = time.perf_counter()
        guard = Timer(LIMIT_S, self._kill)
        guard.start()
        try:
            process.stdin.write(f"{number}\n")
            process.stdin.flush()
            line = process.stdout.readline()
        except BrokenPipeError:
            line = ""
        finally:
            guard.cancel()
        seconds = time.perf_counter() - began
        if line:
            return Outcome(number, json.loads(line), seconds)
        how = "hung" if self._hung else f"died ({process.wait()})"
        return Outcome(number, how, seconds, self._last_words())

    def _last_words(self) -> str:
        self._stderr.seek(0)
        lines = self._stderr.read().decode(errors="replace").split("\n")
        own = [line for line in lines if any(word in line for word in WORDS)]
        return "\n".join(own[-12:])

    def _kill(self) -> None:
        self._hung = True
        self._process.kill()

    @property
    def is_alive(self) -> bool:
        """Whether it takes another input."""
        return self._process.poll() is None

    def close(self) -> None:
        """Ends it."""
        self._stderr.close()
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.close()
        self._process.wait(timeout=30)
        self._process.stdout.close()


def outcomes(corpus: Path, seed: int, numbers: range) -> Iterator[Outcome]:
    """Runs inputs in as many shells as it takes."""
    shell = Shell(corpus, seed)
    try:
        for number in numbers:
            if not shell.is_alive:
                shell.close()
                shell = Shell(corpus, seed)
            yield shell.run(number)
    finally:
        shell.close()


def serve(corpus: Path, seed: int) -> None:
    """What a shell's process does: reads numbers, writes outcomes."""
    from IPython.core.interactiveshell import InteractiveShell
    from IPython.utils.capture import capture_output

    import kernel_magics as km

    seeds = read_seeds(corpus)
    answers = sys.stdout
    shell = InteractiveShell.instance()
    shell.run_line_magic("load_ext", "kernel_magics")
    kept = "func.func @kept(%x: tensor<3xf32>) -> tensor<3xf32> { return %x : tensor<3xf32> }"
    km.session.define(kept, name="kept")
    before = km.session.module_text()
    path = Path(mkdtemp()) / "fuzzed.mlir.bc"
    for line in sys.stdin:
        program = mutant(seeds, int(line), seed)
        with capture_output():
            if isinstance(program, bytes):
                path.write_bytes(program)
                result = shell.run_cell(f"%hlo load {path} fuzzed")
            else:
                result = shell.run_cell(
                    f"%%hlo fuzzed --show nothing --timeout {TRIAL_S}\n{program}"
                )
        what = _outcome(result.error_before_exec or result.error_in_exec, km)
        if "fuzzed" in km.session.units:
            km.session.drop("fuzzed")
        if km.session.module_text() != before:
            what = "changed the session"
            km.session.reset()
            km.session.define(kept, name="kept")
        answers.write(json.dumps(what) + "\n")
        answers.flush()


def _outcome(error: BaseException | None, km) -> str:
    if error is None:
        return "ok"
    if isinstance(error, km.KernelMagicsError):
        return type(error).__name__
    return f"not ours: {type(error).__name__}: {str(error)[:200]}"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--corpus", type=Path, required=True)
    parser.add_argument("--count", type=int, default=500)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--out", type=Path, help="where to write the inputs that did harm")
    parser.add_argument("--serve", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.serve:
        serve(options.corpus, options.seed)
        return 0
    counts: Counter[str] = Counter()
    slowest, faults = 0.0, 0
    seeds = read_seeds(options.corpus)
    for outcome in outcomes(
        options.corpus, options.seed, range(options.first, options.first + options.count)
    ):
        counts[outcome.what] += 1
        slowest = max(slowest, outcome.seconds)
        if outcome.is_fault:
            faults += 1
            print(f"seed {options.seed}, input {outcome.number}: {outcome.what}", flush=True)
            print(outcome.last_words, flush=True)
            if options.out:
                program = mutant(seeds, outcome.number, options.seed)
                content = (
                    program if isinstance(program, bytes) else program.encode(errors="replace")
                )
                options.out.mkdir(parents=True, exist_ok=True)
                (options.out / f"{options.seed}-{outcome.number}").write_bytes(content)
    for what, count in counts.most_common():
        print(f"{count:>7,}  {what}")
    print(f"{faults} faults; slowest input {slowest:.1f} s")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
