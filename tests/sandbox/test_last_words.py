"""What is kept of a child's stderr."""

import pytest

from kernel_magics.sandbox.last_words import MAX_LINE_LENGTH, MAX_LINES, Tail, meaningful, suspect


def test_tails_keep_the_last_lines_in_bounded_memory():
    tail = Tail()
    for number in range(1000):
        tail.add(b"line %d\n" % number)
    assert tail.lines()[0] == f"line {1000 - MAX_LINES}"
    assert tail.lines()[-1] == "line 999"
    for _ in range(100):
        tail.add(b"x" * 100_000)
    assert len(tail._open) <= 4 * MAX_LINE_LENGTH
    assert tail.lines()[-1] == "x" * MAX_LINE_LENGTH + " …"
    tail.clear()
    assert tail.lines() == ()


def test_lines_may_come_in_pieces_and_in_any_encoding():
    tail = Tail()
    for piece in (b"one", b"\n\n tw", b"o \nthree \xff"):
        tail.add(piece)
    assert tail.lines() == ("one", " two", "three �")


@pytest.mark.parametrize(
    ("line", "words"),
    [
        (
            "F1130 10:00:00.123456  42 hlo_instruction.cc:12] Check failed: a == b (1 vs. 2)",
            "Check failed: a == b (1 vs. 2)",
        ),
        (
            "F0000 00:00:17.1 42 shape.cc:12] partition-id must be u32",
            "partition-id must be u32",
        ),
        ("LLVM ERROR: out of memory", "LLVM ERROR: out of memory"),
        ("  what():  std::bad_alloc", "what():  std::bad_alloc"),
        ("free(): invalid pointer", "free(): invalid pointer"),
        ("munmap_chunk(): invalid pointer", "munmap_chunk(): invalid pointer"),
        (
            "*** stack smashing detected ***: terminated",
            "*** stack smashing detected ***: terminated",
        ),
    ],
)
def test_reasons_are_found_among_other_lines(line, words):
    lines = ["E1130 10:00:00.1 4 some.cc:5] noise", line, "    @     0x7f00  (unknown)"]
    assert suspect(lines) == words
    assert meaningful(lines) == [words]


def test_without_a_reason_the_last_lines_are_shown_without_noise():
    lines = [
        "WARNING: All log messages before absl::InitializeLog() is called",
        "a",
        "I1130 b",
        "c",
    ]
    assert suspect(lines) == ""
    assert meaningful(lines) == ["a", "c"]
