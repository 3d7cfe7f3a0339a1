"""A conversation with a device that is known to have the right configuration.

Records are pushed only as far as the device has given credit, and registers have names.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence

from racetrap.fpga.host.client import HostLink, LinkError, RefusedError
from racetrap.generators.description import describe_registers
from racetrap.generators.register_map import RegisterMap, RegisterPort
from racetrap.generators.system import Params
from racetrap.generators.systems import SYSTEMS, system_of
from racetrap.golden_model.configuration import configuration_hash
from racetrap.golden_model.link.frames import MAX_PAYLOAD_BYTES, Hello, Kind, Status

_PULL_MOST = 255
_PUSH_HEAD = 1  # payload bytes before the records
_PULL_HEAD = 2
_QUIET_ROUNDS = 4
#: Seconds without any progress after which a device that answers counts as blocked.
PATIENCE_S = 5.0


def check_device(hello: Hello, params: Params, name: str) -> None:
    """Raise ``LinkError``, naming both, unless a device has the configuration ``params``.

    Parameters
    ----------
    hello : Hello
        What the device says.
    params : Params
        Configuration wanted.
    name : str
        What people call it.
    """
    systems = {system.code: system.name for system in SYSTEMS}
    wanted, found = system_of(params).name, systems.get(hello.system, f"number {hello.system}")
    if wanted != found:
        raise LinkError(f"Device must have the system {wanted} of {name}, not {found}")
    expected = configuration_hash(params)
    if hello.configuration != expected:
        raise LinkError(
            f"Device must have the configuration {expected:#010x} of {name}, "
            f"not {hello.configuration:#010x}"
        )


class Session(RegisterPort):
    """Registers by name, input channels with credits, output channels.

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
        hello = link.hello()
        check_device(hello, params, name)
        self._record_bytes, self._output_bytes = hello.input_bytes, hello.output_bytes
        self._free = list(hello.credits)
        # What a channel without records can take; at HELLO it may hold some of a run before.
        self._depth = list(hello.credits)

    # Registers --------------------------------------------------------------------------

    def read(self, register: str) -> int:
        """Value of a register."""
        address = self.map.address(register).to_bytes(2, "little")
        return int.from_bytes(self.link.request(Kind.READ, address)[1:5], "little")

    def write(self, register: str, value: int) -> None:
        """Write a register."""
        address = self.map.address(register).to_bytes(2, "little")
        self.link.request(Kind.WRITE, address + value.to_bytes(4, "little"))

    def has(self, register: str) -> bool:
        """Whether the device has a register: a core has but some of its system's."""
        try:
            self.read(register)
        except RefusedError as error:
            if error.status != Status.REGISTER_ERROR:
                raise
            return False
        return True

    # Channels ---------------------------------------------------------------------------

    def room(self, channel: int) -> int:
        """Records that one request can push: what a frame holds, if the channel were empty."""
        return min(max(self._depth[channel], 1), self._fit)

    @property
    def _fit(self) -> int:
        return (MAX_PAYLOAD_BYTES - _PUSH_HEAD) // self._record_bytes

    def push(self, channel: int, records: Sequence[int]) -> None:
        """Push records in their order, waiting for credit where there is too little."""
        records, patience = list(records), _Patience(f"take records of channel {channel}")
        while records:
            count = min(self._free[channel], self._fit, len(records))
            part = b"".join(
                record.to_bytes(self._record_bytes, "little") for record in records[:count]
            )
            self._push(channel, part)
            del records[:count]
            patience.check(progress=count > 0)

    def _push(self, channel: int, part: bytes) -> None:
        reply = self.link.request(Kind.PUSH, bytes([channel]) + part)
        self._free[channel] = reply[1]
        self._depth[channel] = max(self._depth[channel], reply[1])

    def is_empty(self, channel: int) -> bool:
        """Whether a channel's queue has handed all its records on; asks only if not known."""
        if self._free[channel] < self._depth[channel]:
            self._push(channel, b"")
        return self._free[channel] == self._depth[channel]

    def settle(self) -> None:
        """Wait until what a run before has left in the input channels is taken.

        How much an empty channel holds is not known then, so this waits until no credit has
        grown for some requests, each of which takes far longer than a record.
        """
        quiet = 0
        while quiet < _QUIET_ROUNDS:
            before = list(self._free)
            for channel in range(len(before)):
                self._push(channel, b"")
            quiet = quiet + 1 if self._free == before else 0

    def pull(self, channel: int) -> list[int]:
        """All records that wait in an output channel."""
        records: list[int] = []
        while True:
            reply = self.link.request(Kind.PULL, bytes([channel, _PULL_MOST]))
            data, size = reply[_PULL_HEAD:], self._output_bytes
            records += [
                int.from_bytes(data[start : start + size], "little")
                for start in range(0, len(data), size)
            ]
            if not reply[1]:
                return records


class _Patience:
    """Ends a wait in which nothing happens."""

    def __init__(self, what: str):
        self._what = what
        self._since = time.monotonic()

    def check(self, *, progress: bool) -> None:
        now = time.monotonic()
        if progress:
            self._since = now
        elif now - self._since > PATIENCE_S:
            raise LinkError(f"Device did not {self._what} within {PATIENCE_S:g} s")


def wait_until(is_done: Callable[[], bool], what: str) -> None:
    """Ask until it is done; ``LinkError`` if the device does not do ``what`` for long."""
    patience = _Patience(what)
    while not is_done():
        patience.check(progress=False)
