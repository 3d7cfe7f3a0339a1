"""Frames of the host link: bytes on the line, and the payloads that both ends must agree on.

A frame is a flag, an escaped body and a flag; a body is kind, sequence, length of the payload,
payload and CRC.  After garbage the next flag starts anew, whatever came before it.

Ref: ISO/IEC 13239 (HDLC) section 4.5 (start/stop transmission with byte stuffing); CRC-16/IBM-3740.
"""

from __future__ import annotations

import struct
from binascii import crc_hqx
from dataclasses import dataclass
from enum import IntEnum
from typing import NamedTuple

PROTOCOL_VERSION = 1

#: Byte before and after each body.
FLAG = 0x7E
#: Byte before a body byte that is sent changed, since it would look like a flag or like this.
ESCAPE = 0x7D
ESCAPE_MASK = 0x20

#: Bit of a frame's kind by which a reply differs from its request.
REPLY = 0x80
#: Kind, sequence and length.
HEADER_BYTES = 3
#: Body bytes around a payload: header and CRC.
FRAME_OVERHEAD = HEADER_BYTES + 2
MAX_PAYLOAD_BYTES = 255
MAX_BODY_BYTES = MAX_PAYLOAD_BYTES + FRAME_OVERHEAD

_CRC_INITIAL = 0xFFFF
_HELLO = struct.Struct("<BBBIBBBB")
_COUNTERS = struct.Struct("<B8H")


class Kind(IntEnum):
    """What a request asks for."""

    HELLO = 1
    PUSH = 2
    PULL = 3
    READ = 4
    WRITE = 5
    COUNTERS = 6


class Status(IntEnum):
    """First byte of every reply's payload."""

    OK = 0
    BAD_REQUEST = 1
    NO_CREDIT = 2
    REGISTER_ERROR = 3
    UNKNOWN_KIND = 4


@dataclass(frozen=True)
class Frame:
    """A request, or a reply to it.

    Parameters
    ----------
    kind : int
        One of ``Kind``, plus ``REPLY`` in a reply; any byte may come from the line.
    sequence : int
        Number of the request modulo 256; a reply has its request's.
    payload : bytes
        Up to 255 bytes.
    """

    kind: int
    sequence: int
    payload: bytes = b""

    def body(self) -> bytes:
        """Header, payload and CRC, before escaping."""
        if len(self.payload) > MAX_PAYLOAD_BYTES:
            raise ValueError(
                f"Payload must be at most {MAX_PAYLOAD_BYTES} bytes, not {len(self.payload)}"
            )
        body = bytes([self.kind, self.sequence, len(self.payload)]) + self.payload
        return body + crc_hqx(body, _CRC_INITIAL).to_bytes(2, "big")


def encode(frame: Frame) -> bytes:
    """The bytes of ``frame`` on the line, flags included.

    Raises
    ------
    ValueError
        If kind or sequence is no byte, or the payload is too long.
    """
    escaped = bytearray([FLAG])
    for byte in frame.body():
        escaped += bytes([ESCAPE, byte ^ ESCAPE_MASK] if byte in (FLAG, ESCAPE) else [byte])
    escaped.append(FLAG)
    return bytes(escaped)


class Decoder:
    """Finds frames in bytes from the line; never gives a frame whose CRC does not fit.

    Attributes
    ----------
    frames : int
        Good frames.
    bad_crc : int
        Frames of the length that they claim with a CRC that does not fit.
    bad_length : int
        Frames of another length than they claim, or that end in an escape.
    too_long : int
        Frames longer than any frame may be; counted when the byte too many comes.
    """

    def __init__(self) -> None:
        self.frames = self.bad_crc = self.bad_length = self.too_long = 0
        self._restart()
        # What comes before the first flag is the rest of a frame.
        self._skip = True

    def _restart(self) -> None:
        self._body = bytearray()
        self._escaped = False
        self._skip = False

    def feed(self, data: bytes) -> list[Frame]:
        """Take bytes from the line; gives the frames that ended in them."""
        found = []
        for byte in data:
            if byte == FLAG:
                if not self._skip and (frame := self._end()) is not None:
                    found.append(frame)
                self._restart()
            elif not self._skip:
                self._take(byte)
        return found

    def spoil(self) -> None:
        """A byte was lost or damaged, and the line's receiver knows: drop all up to a flag."""
        self._skip = True

    def _take(self, byte: int) -> None:
        if byte == ESCAPE and not self._escaped:
            self._escaped = True
            return
        if len(self._body) == MAX_BODY_BYTES:
            self.too_long += 1
            self._skip = True
            return
        self._body.append(byte ^ ESCAPE_MASK if self._escaped else byte)
        self._escaped = False

    def _end(self) -> Frame | None:
        """The frame whose last byte has come; None between two flags and for a bad one."""
        body = self._body
        if not body and not self._escaped:
            return None
        # A body of fewer bytes than a header has no length that could fit.
        if self._escaped or len(body) < HEADER_BYTES or len(body) != body[2] + FRAME_OVERHEAD:
            self.bad_length += 1
            return None
        if crc_hqx(bytes(body), _CRC_INITIAL) != 0:
            self.bad_crc += 1
            return None
        self.frames += 1
        return Frame(body[0], body[1], bytes(body[HEADER_BYTES:-2]))


@dataclass(frozen=True)
class Hello:
    """Payload of the reply to HELLO: what the device is.

    Parameters
    ----------
    status, version : int
        Version of the protocol that the device speaks; the status is BAD_REQUEST for another.
    system : int
        1 ScoRD, 2 SigRace, 3 bus monitor.
    configuration : int
        Hash of the parameters, 32 bits.
    inputs, input_bytes, outputs, output_bytes : int
        Channels, and bytes of each record.
    credits : tuple of int
        Records that each input channel can take.
    """

    status: int
    version: int
    system: int
    configuration: int
    inputs: int
    input_bytes: int
    outputs: int
    output_bytes: int
    credits: tuple[int, ...]

    def to_payload(self) -> bytes:
        """The payload, status first."""
        return _HELLO.pack(
            self.status, self.version, self.system, self.configuration,
            self.inputs, self.input_bytes, self.outputs, self.output_bytes,
        ) + bytes(self.credits)  # fmt: skip

    @classmethod
    def from_payload(cls, payload: bytes) -> Hello:
        """Read a payload; ``ValueError`` if it has another length than its fields say."""
        if len(payload) < _HELLO.size:
            raise ValueError(
                f"HELLO reply must have at least {_HELLO.size} bytes, not {len(payload)}"
            )
        values = [*_HELLO.unpack_from(payload), tuple(payload[_HELLO.size :])]
        hello = cls(*values)
        if len(hello.credits) != hello.inputs:
            raise ValueError(
                f"HELLO reply must have credits of {hello.inputs} channels, "
                f"not {len(hello.credits)}"
            )
        return hello


class Counters(NamedTuple):
    """Payload of the reply to COUNTERS, after the status; each stops at 65,535."""

    frames: int = 0
    bad_crc: int = 0
    bad_length: int = 0
    too_long: int = 0
    duplicates: int = 0
    gaps: int = 0
    uart_framing: int = 0
    uart_overrun: int = 0

    def to_payload(self) -> bytes:
        """The payload, status first."""
        return _COUNTERS.pack(Status.OK, *(min(count, 0xFFFF) for count in self))

    @classmethod
    def from_payload(cls, payload: bytes) -> Counters:
        """Read a payload; ``ValueError`` if it has another length."""
        if len(payload) != _COUNTERS.size:
            raise ValueError(f"COUNTERS reply must have {_COUNTERS.size} bytes, not {len(payload)}")
        return cls(*_COUNTERS.unpack(payload)[1:])
