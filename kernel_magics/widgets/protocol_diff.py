"""What two texts of one unit have in common; written into `protocol.ts` as well."""

from typing import Literal, TypedDict

RunKind = Literal["same", "changed"]


class Version(TypedDict):
    """One text of a unit."""

    key: str
    """`written`, `printed`, `merged`, or the number of an earlier version from 1."""
    label: str


class UnitVersions(TypedDict):
    """All texts of a unit that can be compared."""

    unit: int
    """Place in `units`."""
    versions: list[Version]
    """The oldest first, the merged one last."""


class VersionsAnswer(TypedDict):
    """What can be compared."""

    units: list[UnitVersions]


class DiffRun(TypedDict):
    """Lines that follow each other: the same on both sides, or not."""

    kind: RunKind
    left: int
    """First line on the left, from 0; `left_count` may be none."""
    left_count: int
    right: int
    right_count: int
    pairs: list[int]
    """Lines that took each other's place, left, right, left, …, counted from the run's first."""


class DiffAnswer(TypedDict):
    """Two texts as runs of lines; those of neither side are left out."""

    runs: list[DiffRun]
    left_count: int
    right_count: int
    changes: int


class VersionLines(TypedDict):
    """Lines of one text, and the numbers that they have where it stands."""

    first: int
    """From 0."""
    lines: list[str]
    numbers: list[int]


class SavedDiff(TypedDict):
    """A comparison on a page of its own, with all its lines."""

    unit: int
    left: Version
    right: Version
    diff: DiffAnswer
    left_lines: VersionLines
    right_lines: VersionLines


class VersionsCommand(TypedDict):
    """Say what can be compared."""

    kind: Literal["versions"]
    id: str


class DiffCommand(TypedDict):
    """Compare two texts of a unit."""

    kind: Literal["diff"]
    id: str
    unit: int
    left: str
    right: str


class VersionLinesCommand(TypedDict):
    """Give lines of one text of a unit."""

    kind: Literal["version_lines"]
    id: str
    unit: int
    version: str
    first: int
    """From 0."""
    count: int
