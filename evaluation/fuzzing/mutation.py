"""Mutation of input files: small changes of bytes, words and numbers, and large repetitions."""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Sequence

_NUMBER = re.compile(rb"0x[0-9a-fA-F]+|\d+")
_WORD = re.compile(rb"[A-Za-z_%.$]+|\d+|[^\sA-Za-z0-9]")
#: Numbers at which widths end, and some beyond all of them.
_NUMBERS = (
    b"0", b"1", b"2", b"31", b"32", b"63", b"64", b"255", b"256", b"65535", b"65536",
    b"2147483647", b"2147483648", b"4294967295", b"4294967296", b"18446744073709551615",
    b"18446744073709551616", b"-1", b"1e308", b"0x7fffffffffffffff", b"9" * 40, b"9" * 5000,
)  # fmt: skip
_BYTES = (
    b"\0", b"\n", b"\r", b"\xff", b"\x80", b"\x1b[31m", b'"', b"'", b"\\", b"#", b"{", b"[", b"=",
    b";", b",", "\u202e\u2028".encode(), b" ", b"/*", b"nan", b"inf", b"null",
)  # fmt: skip
_MOST_CHANGES = 4
_MOST_COPIES = 3000

_Change = Callable[[random.Random, bytes, Sequence[bytes]], bytes]


def _place(rng: random.Random, data: bytes) -> int:
    return rng.randrange(len(data) + 1)


def _span(rng: random.Random, data: bytes) -> tuple[int, int]:
    first = _place(rng, data)
    return first, min(len(data), first + rng.choice((1, 2, 4, 8, 40, 400)))


def _flip(rng: random.Random, data: bytes, _: Sequence[bytes]) -> bytes:
    at = rng.randrange(len(data))
    return data[:at] + bytes([data[at] ^ 1 << rng.randrange(8)]) + data[at + 1 :]


def _insert(rng: random.Random, data: bytes, _: Sequence[bytes]) -> bytes:
    at = _place(rng, data)
    return data[:at] + rng.choice(_BYTES) + data[at:]


def _delete(rng: random.Random, data: bytes, _: Sequence[bytes]) -> bytes:
    first, last = _span(rng, data)
    return data[:first] + data[last:]


def _truncate(rng: random.Random, data: bytes, _: Sequence[bytes]) -> bytes:
    return data[: _place(rng, data)]


def _change_number(rng: random.Random, data: bytes, _: Sequence[bytes]) -> bytes:
    found = list(_NUMBER.finditer(data))
    if not found:
        return data
    match = rng.choice(found)
    return data[: match.start()] + rng.choice(_NUMBERS) + data[match.end() :]


def _swap_words(rng: random.Random, data: bytes, _: Sequence[bytes]) -> bytes:
    found = list(_WORD.finditer(data))
    if len(found) < 2:
        return data
    one, other = sorted(rng.sample(found, 2), key=lambda match: match.start())
    middle = data[one.end() : other.start()]
    return data[: one.start()] + other[0] + middle + one[0] + data[other.end() :]


def _repeat(rng: random.Random, data: bytes, _: Sequence[bytes]) -> bytes:
    """Deep nesting and long lists, from a few bytes of the file itself."""
    first = _place(rng, data)
    part = data[first : first + rng.choice((1, 2, 3, 12))]
    return data[:first] + part * rng.choice((2, 40, _MOST_COPIES)) + data[first:]


def _copy_line(rng: random.Random, data: bytes, _: Sequence[bytes]) -> bytes:
    lines = data.splitlines(keepends=True)
    if not lines:
        return data
    lines.insert(rng.randrange(len(lines)), rng.choice(lines))
    return b"".join(lines)


def _drop_line(rng: random.Random, data: bytes, _: Sequence[bytes]) -> bytes:
    lines = data.splitlines(keepends=True)
    if not lines:
        return data
    del lines[rng.randrange(len(lines))]
    return b"".join(lines)


def _splice(rng: random.Random, data: bytes, corpus: Sequence[bytes]) -> bytes:
    other = rng.choice(corpus)
    return data[: _place(rng, data)] + other[_place(rng, other) :]


_CHANGES: tuple[_Change, ...] = (
    _flip, _insert, _delete, _truncate, _change_number, _change_number, _swap_words, _swap_words,
    _repeat, _copy_line, _drop_line, _splice,
)  # fmt: skip


def mutate(rng: random.Random, corpus: Sequence[bytes]) -> bytes:
    """A file of the corpus after one to four changes.

    Parameters
    ----------
    rng : Random
        Source of all choices.
    corpus : sequence of bytes
        Files that are right, none of them empty.
    """
    data = rng.choice(corpus)
    for _ in range(rng.randint(1, _MOST_CHANGES)):
        if data:
            data = rng.choice(_CHANGES)(rng, data, corpus)
    return data
