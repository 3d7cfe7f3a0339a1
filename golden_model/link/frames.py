"""Frames of the host link, for both directions.

A frame is a body and a flag; a body is sequence, code, payload and CRC.  A flag ends any earlier
bytes, so that after garbage the next frame is found.

Ref: ISO/IEC 13239 (HDLC) section 4.5 (start/stop transmission with byte stuffing);
CRC-32/ISO-HDLC.
"""

from __future__ import annotations

import re
from enum import IntEnum
from typing import NamedTuple
from zlib import crc32

#: Byte after each body.
FLAG = 0x7E
#: Escape: byte before a modified body byte that would otherwise look like a flag or an escape.
ESCAPE = 0x7D
ESCAPE_MASK = 0x20

SEQUENCES = 1 << 16
#: Bit of a code that marks a reply.
REPLY = 0x80
#: Bit of a reply's code: the request was refused.
REFUSED = 0x01
#: A request's code is its kind times this, plus its channel.
CHANNELS = 32

#: Sequence and code.
HEADER_BYTES = 3
CRC_BYTES = 4
MAX_BODY_BYTES = 256
MAX_PAYLOAD_BYTES = MAX_BODY_BYTES - HEADER_BYTES - CRC_BYTES
#: Payload of an access: an address, and for a write, data.
ADDRESS_BYTES, DATA_BYTES = 2, 4

_FLAG = bytes([FLAG])


class Kind(IntEnum):
    """Kind of request."""

    HELLO = 0
    PUSH = 1
    PULL = 2
    ACCESS = 3


class Frame(NamedTuple):
    """A request, or the reply to it.

    Parameters
    ----------
    sequence : int
        Number of the request, modulo 65,536; a reply has its request's.
    code : int
        Kind and channel of a request; ``REPLY``, with or without ``REFUSED``, of a reply.
    payload : bytes
        Up to 249 bytes.
    """

    sequence: int
    code: int
    payload: bytes = b""


def encode(frame: Frame) -> bytes:
    """The bytes of ``frame`` on the line, with the flag; ``ValueError`` if it is too long."""
    if (size := len(frame.payload)) > MAX_PAYLOAD_BYTES:
        raise ValueError(f"Payload must be at most {MAX_PAYLOAD_BYTES} bytes, not {size}")
    body = frame.sequence.to_bytes(2, "little") + bytes([frame.code]) + frame.payload
    body += crc32(body).to_bytes(CRC_BYTES, "little")
    escaped = re.sub(b"[\x7d\x7e]", lambda byte: bytes([ESCAPE, byte[0][0] ^ ESCAPE_MASK]), body)
    return escaped + _FLAG


class Decoder:
    """Finds frames in bytes from the line; drops those with a wrong length or CRC."""

    def __init__(self) -> None:
        self._rest = b""

    def feed(self, data: bytes) -> list[Frame]:
        """Take bytes from the line; return the frames that ended in them."""
        *ended, rest = (self._rest + data).split(_FLAG)
        # Of an overlong frame, just enough bytes are kept to make it overlong.
        self._rest = rest[: 2 * MAX_BODY_BYTES + 1]
        return [frame for escaped in ended if escaped and (frame := _decode(escaped))]


def _decode(escaped: bytes) -> Frame | None:
    body = re.sub(
        b"\x7d(.)", lambda pair: bytes([pair[1][0] ^ ESCAPE_MASK]), escaped, flags=re.DOTALL
    )
    content, crc = body[:-CRC_BYTES], crc32(body[:-CRC_BYTES]).to_bytes(CRC_BYTES, "little")
    if not HEADER_BYTES <= len(content) <= MAX_BODY_BYTES - CRC_BYTES or not body.endswith(crc):
        return None
    return Frame(int.from_bytes(content[:2], "little"), content[2], content[HEADER_BYTES:])
