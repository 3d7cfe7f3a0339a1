"""Identity of a link's device."""

from __future__ import annotations

import struct
from typing import NamedTuple

from racetrap.golden_model.checks import check_integer
from racetrap.golden_model.link.frames import CHANNELS, MAX_PAYLOAD_BYTES

PROTOCOL_VERSION = 2

_MOST = {
    "inputs": CHANNELS, "input_bytes": MAX_PAYLOAD_BYTES, "room": (1 << 16) - 1,
    "outputs": CHANNELS, "output_bytes": MAX_PAYLOAD_BYTES,
}  # fmt: skip
_FORM = struct.Struct("<BIBBHBB")


class Hello(NamedTuple):
    """Payload of the reply to HELLO: identity and sizes of the device.

    Parameters
    ----------
    version : int
        Version of the protocol.
    configuration : int
        Hash of the parameters, 32 bits.
    inputs, input_bytes : int
        Input channels, and bytes of a record.
    room : int
        Capacity of an empty input channel in bytes.
    outputs, output_bytes : int
        Output channels, and bytes of a record.
    """

    version: int
    configuration: int
    inputs: int
    input_bytes: int
    room: int
    outputs: int
    output_bytes: int

    @classmethod
    def of(
        cls, configuration: int, *, input_bits: int, inputs: int, output_bits: int,
        outputs: int, credits: int = 8,
    ) -> Hello:  # fmt: skip
        """The link of a device, for records of these sizes, ``credits`` in each input channel.

        Raises
        ------
        TypeError, ValueError
            If a number is out of range, or a record does not fit into a frame.
        """
        size = -(-input_bits // 8)
        hello = cls(
            PROTOCOL_VERSION, configuration, inputs, size, credits * size, outputs,
            -(-output_bits // 8),
        )  # fmt: skip
        for name, most in _MOST.items():
            check_integer(f"Link {name}", getattr(hello, name), 1, most)
        return hello

    def to_payload(self) -> bytes:
        """The payload."""
        return _FORM.pack(*self)

    @classmethod
    def from_payload(cls, payload: bytes) -> Hello:
        """Read a payload; ``ValueError`` if it is not of this version."""
        if payload[:1] != bytes([PROTOCOL_VERSION]) or len(payload) != _FORM.size:
            what = f"{_FORM.size} bytes of version {PROTOCOL_VERSION}"
            raise ValueError(f"HELLO reply must be {what}, not {payload.hex(' ') or 'empty'}")
        return cls(*_FORM.unpack(payload))
