"""Programs with something changed in them: by bytes, by tokens, by lines; the same for a seed."""

import json
import random
import re
from dataclasses import dataclass
from pathlib import Path

TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|[%@#!^]?[\w.$-]+|\s+|.')
LARGEST = 20_000
"""Bytes of a program that is worth changing: larger ones only take longer."""


@dataclass(frozen=True)
class Seeds:
    """What is changed: texts, and programs as bytes."""

    texts: tuple[str, ...]
    binaries: tuple[bytes, ...]


def read_seeds(corpus: Path) -> Seeds:
    """The programs of a corpus that are not too large."""
    texts: list[str] = []
    binaries: list[bytes] = []
    for name in ("interpret.jsonl", "modules.jsonl"):
        lines = (corpus / "conformance" / name).read_text().splitlines()
        texts += [json.loads(line)["text"] for line in lines]
    for path in sorted((corpus / "real").iterdir()):
        if path.suffix in (".mlir", ".hlo"):
            texts.append(path.read_text(errors="replace"))
        elif path.suffix == ".bc":
            binaries.append(path.read_bytes())
    short = [text for text in texts if len(text) <= LARGEST]
    return Seeds(tuple(short), tuple(blob for blob in binaries if len(blob) <= LARGEST))


def mutant(seeds: Seeds, number: int, seed: int) -> str | bytes:
    """The changed program of this number: two in three are texts."""
    chance = random.Random(f"{seed}:{number}")  # noqa: S311 - a test, not a secret
    if number % 3 == 2:
        return _changed_bytes(chance.choice(seeds.binaries), seeds, chance)
    text = chance.choice(seeds.texts)
    for _ in range(chance.choice((1, 1, 1, 2, 4))):
        text = chance.choice((_changed_tokens, _changed_lines, _changed_characters))(
            text, seeds, chance
        )
    return text


def _changed_tokens(text: str, seeds: Seeds, chance: random.Random) -> str:
    tokens = TOKEN.findall(text)
    if not tokens:
        return text
    at = chance.randrange(len(tokens))
    other = TOKEN.findall(chance.choice(seeds.texts)) or ["x"]
    kind = chance.randrange(6)
    if kind == 0:
        del tokens[at]
    elif kind == 1:
        tokens.insert(at, tokens[at])
    elif kind == 2:
        tokens[at] = chance.choice(other)
    elif kind == 3:
        swapped = chance.randrange(len(tokens))
        tokens[at], tokens[swapped] = tokens[swapped], tokens[at]
    elif kind == 4:
        tokens[at] = chance.choice(tokens)
    else:
        numbers = [i for i, token in enumerate(tokens) if re.fullmatch(r"-?\d[\dx]*", token)]
        odd = (
            "0",
            "-1",
            "1",
            "2147483648",
            "9223372036854775807",
            "-9223372036854775808",
            "99999999999999999999",
        )
        tokens[chance.choice(numbers) if numbers else at] = chance.choice(odd)
    return "".join(tokens)


def _changed_lines(text: str, seeds: Seeds, chance: random.Random) -> str:
    lines = text.split("\n")
    at = chance.randrange(len(lines))
    kind = chance.randrange(5)
    if kind == 0:
        del lines[at]
    elif kind == 1:
        lines.insert(at, lines[at])
    elif kind == 2:
        lines.insert(at, chance.choice(chance.choice(seeds.texts).split("\n")))
    elif kind == 3:
        other = chance.randrange(len(lines))
        lines[at], lines[other] = lines[other], lines[at]
    else:
        lines = lines[: at + 1]
    return "\n".join(lines)


def _changed_characters(text: str, seeds: Seeds, chance: random.Random) -> str:
    del seeds
    characters = list(text) or ["x"]
    for _ in range(chance.choice((1, 2, 8))):
        at = chance.randrange(len(characters))
        characters[at] = chr(ord(characters[at]) ^ (1 << chance.randrange(7)))
    return "".join(characters)


def _changed_bytes(content: bytes, seeds: Seeds, chance: random.Random) -> bytes:
    changed = bytearray(content)
    kind = chance.randrange(6)
    if kind == 0:
        return bytes(changed[: chance.randrange(len(changed))])
    if kind == 1:
        other = chance.choice(seeds.binaries)
        cut = chance.randrange(min(len(changed), len(other)))
        return bytes(changed[:cut]) + other[cut:]
    for _ in range(chance.choice((1, 1, 2, 8))):
        at = chance.randrange(len(changed))
        changed[at] = chance.choice(
            (changed[at] ^ (1 << chance.randrange(8)), 0, 255, chance.randrange(256))
        )
    return bytes(changed)
