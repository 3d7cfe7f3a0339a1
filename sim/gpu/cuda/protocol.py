"""Protocol between a CUDA program's runtime library and the executor: form of its messages.

A request is a header and a body: numbers one after the other, little-endian and without gaps,
then, in some, bytes without a fixed number.  Each has one reply.

Ref: ``docs/runtime-protocol.md``.
"""

from __future__ import annotations

from collections import namedtuple
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from struct import Struct
from typing import Any, NamedTuple

#: First word of the first message, and the version that both ends must have.
MAGIC = 0x54435452
VERSION = 5
#: Bytes of a message's body at most.
MOST_BYTES = 1 << 28

#: Code of the message, and bytes of its body.
REQUEST_HEADER = Struct("<II")
#: The same, and the CUDA error.
REPLY_HEADER = Struct("<IIi")

#: C++ type of each type of number.
CPP_TYPES = {"u32": "uint32_t", "u64": "uint64_t"}
_FORMATS = {"u32": "I", "u64": "Q"}


class ProtocolError(ValueError):
    """A message that breaks a rule of the protocol."""


class Field(NamedTuple):
    """Number in a message.

    Parameters
    ----------
    name : str
        Name.
    type : str
        ``u32`` or ``u64``.
    meaning : str
        What it is.
    """

    name: str
    type: str
    meaning: str


@dataclass(frozen=True)
class Message:
    """A request with its reply.

    Parameters
    ----------
    name : str
        Name, and that of the method that serves it.
    code : int
        Number that stands for it.
    meaning : str
        What it asks for.
    request, reply : tuple of Field
        Numbers of both.
    tail : str
        What the bytes behind the request's numbers are; empty if there are none.
    """

    name: str
    code: int
    meaning: str
    request: tuple[Field, ...] = ()
    reply: tuple[Field, ...] = ()
    tail: str = ""

    @cached_property
    def _request(self) -> Struct:
        return _structure(self.request)

    @cached_property
    def _reply(self) -> Struct:
        return _structure(self.reply)

    @cached_property
    def _type(self) -> Any:
        return namedtuple(self.name, [*(field.name for field in self.request), "tail"])

    @property
    def request_bytes(self) -> int:
        """Bytes of a request's body, without those behind the numbers."""
        return self._request.size

    @property
    def reply_bytes(self) -> int:
        """Bytes of a reply's body, unless it reports an error."""
        return self._reply.size

    def decode(self, body: bytes) -> Any:
        """Request as a named tuple with a last element ``tail``.

        Raises
        ------
        ProtocolError
            If the body has another size.
        """
        size = self.request_bytes
        if len(body) < size or (len(body) > size and not self.tail):
            raise ProtocolError(
                f"Body of message {self.name} must be {size} bytes"
                f"{' or more' if self.tail else ''}, not {len(body)}"
            )
        return self._type(*self._request.unpack_from(body), body[size:])

    def encode(self, *numbers: int, tail: bytes = b"") -> bytes:
        """Whole request, as a client sends it."""
        body = self._request.pack(*numbers) + tail
        return REQUEST_HEADER.pack(self.code, len(body)) + body

    def encode_reply(self, status: int, numbers: Sequence[int] = ()) -> bytes:
        """Whole reply; one that reports an error has no body."""
        body = b"" if status else self._reply.pack(*numbers)
        return REPLY_HEADER.pack(self.code, len(body), status) + body


def _structure(fields: Sequence[Field]) -> Struct:
    return Struct("<" + "".join(_FORMATS[field.type] for field in fields))
