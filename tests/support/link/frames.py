"""Frames as nobody should send them."""

from __future__ import annotations

import random
import re
from zlib import crc32

from racetrap.golden_model.link.frames import ESCAPE, MAX_BODY_BYTES, REPLY, Kind


def framed(content: bytes) -> bytes:
    """Any bytes as a frame with a good CRC, however few or many."""
    body = content + crc32(content).to_bytes(4, "little")
    return re.sub(b"[}~]", lambda byte: bytes([ESCAPE, byte[0][0] ^ 0x20]), body) + b"~"


def strange_frames(rng: random.Random, last: int) -> list[bytes]:
    """Frames around a host's last sequence that no host sends: a device must stand them all."""
    sequences = [last + step & 0xFFFF for step in (-1, 0, 0, 1, 1, 2, 0x8000)]
    header = rng.choice(sequences).to_bytes(2, "little")
    code = bytes([rng.choice([*(32 * kind + rng.randrange(3) for kind in Kind), REPLY, 0xFF])])
    payload = rng.randbytes(rng.choice([0, 1, 2, 2, 6, 6, 7, 40]))
    good = framed(header + code + payload)
    return [
        framed(b""), framed(header), good, good[:-1] + bytes([ESCAPE]) + b"~",
        framed(header + code + bytes(MAX_BODY_BYTES - 6)),
        framed(header + bytes([32 * Kind.ACCESS, 0, 0]) + bytes(MAX_BODY_BYTES + 40)),
    ]  # fmt: skip
