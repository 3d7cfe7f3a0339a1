"""A device at its UART pins as software sees it, for co-simulation.

The UART at the other end of the pins is cocotbext-uart's, not ours.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from cocotbext.uart import UartSink, UartSource

from racetrap.fpga.boards.core_top import core_region
from racetrap.generators.register_map import RegisterMap
from racetrap.golden_model.link.frames import REPLY, Decoder, Frame, Kind, Status, encode
from racetrap.golden_model.scord.packets import Transaction
from racetrap.golden_model.scord.params import Region, ScordParams
from racetrap.golden_model.scord.report import RaceReport
from racetrap.rtl.scord.report_writer import RECORD_BYTES
from racetrap.sim.gpu.program import program_region
from racetrap.sim.mismatch import Mismatch

__all__ = ["CoreAtPins", "DeviceAtPins", "PinHost", "SystemAtPins"]

_RING_LOG2 = 5
_POLLS = 100
_PUSHED_AT_ONCE = 2


class PinHost:
    """The least host that there can be: a frame out, its reply back, in order.

    Parameters
    ----------
    dut : cocotb handle
        The device.
    baud : int
        Bits a second of simulated time.

    Raises
    ------
    Mismatch
        If a reply is not OK.
    """

    def __init__(self, dut: Any, baud: int):
        self._source = UartSource(dut.i_rx, baud=baud)
        self._sink = UartSink(dut.o_tx, baud=baud)
        self._decoder = Decoder()
        self._sequence = 0

    async def ask(self, kind: Kind, payload: bytes = b"") -> bytes:
        """Payload of the reply, which must say OK, after its status."""
        self._sequence = (self._sequence + 1) % 256
        await self._source.write(encode(Frame(kind, self._sequence, payload)))
        frames: list[Frame] = []
        while not frames:
            frames = self._decoder.feed(bytes(await self._sink.read()))
        (reply,) = frames
        seen = (reply.kind, reply.sequence, reply.payload[0])
        if seen != (kind | REPLY, self._sequence, Status.OK):
            raise Mismatch(f"Reply to {kind.name} {self._sequence} must be OK, not {reply}")
        return reply.payload[1:]


class DeviceAtPins:
    """Registers by name, launches, transactions in, records out.

    Parameters
    ----------
    host : PinHost
        Way to the device.
    params : ScordParams
        Its configuration.
    registers : RegisterMap
        Its registers.
    region : Region
        What it monitors.

    Attributes
    ----------
    counters : tuple of str
        Counters that it has and that follow from what it is fed.

    Raises
    ------
    Mismatch
        From every method, if the device does not do what it should.
    """

    counters: tuple[str, ...] = ("REPORTS_DROPPED",)

    def __init__(self, host: PinHost, params: ScordParams, registers: RegisterMap, region: Region):
        self.region = region
        self._host = host
        self._params = params
        self._registers = registers
        self._bytes = -(-params.transaction_layout.width // 8)

    async def read(self, name: str) -> int:
        """Value of a register."""
        address = self._registers.address(name).to_bytes(2, "little")
        return int.from_bytes(await self._host.ask(Kind.READ, address), "little")

    async def write(self, name: str, value: int) -> None:
        """Write a register."""
        address = self._registers.address(name).to_bytes(2, "little")
        await self._host.ask(Kind.WRITE, address + value.to_bytes(4, "little"))

    async def status(self, field: str) -> int:
        """A field of the status."""
        return self._registers.field("STATUS", field, await self.read("STATUS"))

    async def wait(self, field: str, value: int) -> None:
        """Poll the status until its ``field`` is ``value``."""
        for _ in range(_POLLS):
            if await self.status(field) == value:
                return
        raise Mismatch(f"STATUS.{field} must become {value} in {_POLLS} polls")

    async def launch(self) -> None:
        """Clear the counters and launch a kernel."""
        for pulse in ("clear_counters", "launch"):
            await self.write("CONTROL", self._registers.pack("CONTROL", enable=1, **{pulse: 1}))
        await self.wait("busy", 0)

    async def push(self, sm: int, transactions: Sequence[Transaction]) -> None:
        """Push an SM's transactions, a few at once."""
        layout = self._params.transaction_layout
        for start in range(0, len(transactions), _PUSHED_AT_ONCE):
            records = b"".join(
                layout.pack(item._asdict()).to_bytes(self._bytes, "little")
                for item in transactions[start : start + _PUSHED_AT_ONCE]
            )
            await self._host.ask(Kind.PUSH, bytes([sm]) + records)

    async def feed(self, sm: int, transactions: Sequence[Transaction]) -> list[int]:
        """Push an SM's transactions so that no report is dropped; records that came."""
        await self.push(sm, transactions)
        return []

    async def reports(self) -> list[int]:
        """Pull what there is."""
        records: list[int] = []
        more = True
        while more:
            reply = await self._host.ask(Kind.PULL, bytes([0, 255]))
            more = bool(reply[0])
            records += [
                int.from_bytes(reply[start : start + RECORD_BYTES], "little")
                for start in range(1, len(reply), RECORD_BYTES)
            ]
        return records

    async def finish(self) -> list[int]:
        """Records until the device is idle: those that wait keep it from that."""
        records: list[int] = []
        for _ in range(_POLLS):
            records += await self.reports()
            if await self.status("idle"):
                return records + await self.reports()
        raise Mismatch(f"STATUS.idle must become 1 in {_POLLS} polls")

    def numbered(self, races: list[RaceReport]) -> list[int]:
        """Records of a kernel's races, with the numbers that the device gives them."""
        return [replace(race, sequence=0).record() for race in races]


class SystemAtPins(DeviceAtPins):
    """A whole system: region and ring are set, numbers of reports run on over kernels."""

    counters = ("ACCESSES", "FENCES", "UNMONITORED", "REPORTS_DROPPED")

    def __init__(self, host: PinHost, params: ScordParams, registers: RegisterMap):
        super().__init__(host, params, registers, program_region())
        self._head = self._tail = 0

    async def launch(self) -> None:
        region = self.region
        for name, value in (
            ("DATA_BASE_LO", region.data_base), ("DATA_BASE_HI", region.data_base >> 32),
            ("METADATA_BASE_LO", region.metadata_base), ("REGION_SIZE_LOG2", region.size_log2),
            ("REPORT_CAPACITY_LOG2", _RING_LOG2),
        ):  # fmt: skip
            await self.write(name, value)
        await super().launch()
        if await self.status("config_error"):
            raise Mismatch("Launch must be taken, not refused")

    async def finish(self) -> list[int]:
        records = await super().finish()
        self._tail += len(records)
        await self.write("REPORT_TAIL", self._tail)
        if (written := await self.read("REPORTS_WRITTEN")) != len(records):
            raise Mismatch(f"Reports written must be the {len(records)} pulled, not {written}")
        return records

    def numbered(self, races: list[RaceReport]) -> list[int]:
        first, self._head = self._head, self._head + len(races)
        return [replace(race, sequence=first + n).record() for n, race in enumerate(races)]


class CoreAtPins(DeviceAtPins):
    """A core: the region is fixed, reports carry no number."""

    def __init__(self, host: PinHost, params: ScordParams, registers: RegisterMap):
        super().__init__(host, params, registers, core_region(params))

    async def feed(self, sm: int, transactions: Sequence[Transaction]) -> list[int]:
        records = []
        for transaction in transactions:  # the bank's queue is all there is for reports
            await self.push(sm, [transaction])
            records += await self.reports()
        return records
