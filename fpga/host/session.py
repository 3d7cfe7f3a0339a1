"""A conversation with a device that is known to have the right configuration.

Records are pushed only while the device has free space, and registers are accessed by name.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import partial

from racetrap.fpga.host.client import HostLink, LinkError, RefusedError
from racetrap.generators.description import describe_registers
from racetrap.generators.register_map import RegisterMap, RegisterPort
from racetrap.generators.system import Params
from racetrap.golden_model.configuration import configuration_hash
from racetrap.golden_model.link.frames import ADDRESS_BYTES, DATA_BYTES, MAX_PAYLOAD_BYTES, Kind
from racetrap.golden_model.link.hello import Hello

#: Seconds without any progress after which a device that answers counts as blocked.
PATIENCE_S = 5.0


def check_device(hello: Hello, params: Params, name: str) -> None:
    """Raise ``LinkError``, naming both, unless a device has the configuration ``params``.

    Parameters
    ----------
    hello : Hello
        The device's identity.
    params : Params
        Configuration wanted.
    name : str
        What people call it.
    """
    wanted, has = configuration_hash(params), hello.configuration
    if has != wanted:
        raise LinkError(f"Device must have configuration {wanted:#010x} of {name}, not {has:#010x}")


class Session(RegisterPort):
    """Registers by name, input channels, output channels.

    Parameters
    ----------
    link : HostLink
        Link to the device.
    params : Params
        Configuration that it must have.
    name : str
        What people call it.

    Raises
    ------
    LinkError
        If the device has another configuration; from every method, if it fails.
    """

    def __init__(self, link: HostLink, params: Params, name: str):
        super().__init__(RegisterMap(describe_registers(params)))
        self.link = link
        self._hello = link.hello()
        check_device(self._hello, params, name)
        # Free bytes of each channel; at the start it may hold some of an earlier run.
        self._free = [0] * self._hello.inputs

    # Registers --------------------------------------------------------------------------

    def read(self, register: str) -> int:
        """Value of a register."""
        return int.from_bytes(self._access(register), "little")

    def write(self, register: str, value: int) -> None:
        """Write a register."""
        self._access(register, value.to_bytes(DATA_BYTES, "little"))

    def _access(self, register: str, data: bytes = b"") -> bytes:
        address = self.map.address(register).to_bytes(ADDRESS_BYTES, "little")
        return self.link.request(Kind.ACCESS, payload=address + data)

    def has(self, register: str) -> bool:
        """Whether the device has a register: a core has only some of its system's."""
        with suppress(RefusedError):
            self.read(register)
            return True
        return False

    # Channels ---------------------------------------------------------------------------

    @property
    def room(self) -> int:
        """Records that one request can push into an empty channel."""
        return min(self._hello.room, MAX_PAYLOAD_BYTES) // self._hello.input_bytes

    def push(self, channel: int, records: Sequence[int]) -> None:
        """Push records in order, waiting for free space."""
        size = self._hello.input_bytes
        data = b"".join(record.to_bytes(size, "little") for record in records)
        while data:
            has_room = partial(self._has_room, channel, size)
            wait_until(has_room, f"take records of channel {channel}")
            most = min(self._free[channel], MAX_PAYLOAD_BYTES) // size * size
            self._push(channel, data[:most])
            data = data[most:]

    def _push(self, channel: int, part: bytes) -> None:
        self._free[channel] = int.from_bytes(self.link.request(Kind.PUSH, channel, part), "little")

    def _has_room(self, channel: int, wanted: int) -> bool:
        """Whether a channel has this much free space; asks the device only if unknown."""
        if self._free[channel] < wanted:
            self._push(channel, b"")
        return self._free[channel] >= wanted

    def drain(self, channel: int) -> None:
        """Wait until a channel's queue is empty."""
        is_empty = partial(self._has_room, channel, self._hello.room)
        wait_until(is_empty, f"take what was pushed to channel {channel}")

    def settle(self) -> None:
        """Wait until all queues are empty, also of records of an earlier run."""
        for channel in range(self._hello.inputs):
            self.drain(channel)

    def pull(self, channel: int) -> list[int]:
        """All records that wait in an output channel."""
        records: list[int] = []
        size = self._hello.output_bytes
        while True:
            data = self.link.request(Kind.PULL, channel)
            records += [
                int.from_bytes(data[start : start + size], "little")
                for start in range(0, len(data), size)
            ]
            if len(data) + size <= MAX_PAYLOAD_BYTES:
                return records


def wait_until(is_done: Callable[[], bool], what: str) -> None:
    """Poll until done; ``LinkError`` if the device does not do ``what`` in time."""
    end = time.monotonic() + PATIENCE_S
    while not is_done():
        if time.monotonic() > end:
            raise LinkError(f"Device did not {what} within {PATIENCE_S:g} s")
