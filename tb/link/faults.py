"""Faults of a frame on a bad line."""

from __future__ import annotations

import random
from collections.abc import Callable

from racetrap.golden_model.link.frames import ESCAPE, FLAG
from racetrap.tb.link.line import FRAMING_ERROR

_MAX_GARBAGE = 40
_LONG = 300


def _flip(data: bytes, rng: random.Random) -> list[int]:
    """A bit of any byte, flags included, is wrong."""
    changed = list(data)
    changed[rng.randrange(len(data))] ^= 1 << rng.randrange(8)
    return changed


def _burst(data: bytes, rng: random.Random) -> list[int]:
    """Some bytes in a row are anything."""
    start = rng.randrange(len(data))
    length = rng.randint(1, 5)
    return [*data[:start], *rng.randbytes(length), *data[start + length :]]


def _drop(data: bytes, rng: random.Random) -> list[int]:
    place = rng.randrange(len(data))
    return [*data[:place], *data[place + 1 :]]


def _double(data: bytes, rng: random.Random) -> list[int]:
    place = rng.randrange(len(data))
    return [*data[: place + 1], *data[place:]]


def _cut(data: bytes, rng: random.Random) -> list[int]:
    """The sender was reset in the middle of the frame."""
    return list(data[: rng.randrange(len(data))])


def _garbage_before(data: bytes, rng: random.Random) -> list[int]:
    return [*rng.randbytes(rng.randint(1, _MAX_GARBAGE)), *data]


def _garbage_after(data: bytes, rng: random.Random) -> list[int]:
    return [*data, *rng.randbytes(rng.randint(1, _MAX_GARBAGE))]


def _flags_around(data: bytes, rng: random.Random) -> list[int]:
    """Empty frames and lonely escapes."""
    return [FLAG] * rng.randint(1, 3) + [*data] + rng.choices([FLAG, ESCAPE], k=rng.randint(1, 4))


def _too_long(data: bytes, rng: random.Random) -> list[int]:
    """The flag between two frames is lost in a long stretch of noise."""
    noise = bytes(byte for byte in rng.randbytes(_LONG) if byte != FLAG)
    return [*data[:-1], *noise, FLAG, *data]


def _no_stop_bit(data: bytes, rng: random.Random) -> list[int]:
    place = rng.randrange(len(data))
    return [*data[:place], FRAMING_ERROR, *data[place + 1 :]]


def _twice(data: bytes, _: random.Random) -> list[int]:
    """The host did not wait for the reply that is still to come; only the first one counts."""
    return [*data, *data]


#: Each takes a frame's bytes and gives what arrives.
FAULTS: dict[str, Callable[[bytes, random.Random], list[int]]] = {
    "flip": _flip,
    "burst": _burst,
    "drop": _drop,
    "double": _double,
    "cut": _cut,
    "garbage before": _garbage_before,
    "garbage after": _garbage_after,
    "flags around": _flags_around,
    "too long": _too_long,
    "no stop bit": _no_stop_bit,
    "twice": _twice,
}
