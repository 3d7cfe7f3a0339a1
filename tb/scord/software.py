"""What the driver software does: launches kernels, reads the ring buffer and the counters."""

from __future__ import annotations

from collections.abc import Callable

from racetrap.golden_model.scord.params import Region
from racetrap.rtl.scord.counters import PULSES
from racetrap.tb.axi_memory import AxiMemory
from racetrap.tb.bench import Bench
from racetrap.tb.register_agent import RegisterAgent, RegisterError

__all__ = ["COUNTERS", "Software"]

#: Counter registers, in lower case.
COUNTERS = (*PULSES, "reports_written", "reports_suppressed", "report_write_errors")
_RECORD_BYTES, _BEAT_BYTES = 32, 8
_POLLS = 20_000
_WRAP = 1 << 32


class Software:
    """The driver's side of the register and ring protocol.

    Parameters
    ----------
    bench : Bench
        Shared context.
    registers : RegisterAgent
        Way to the registers.
    memory : AxiMemory
        Memory that holds the ring buffer.
    on_record : callable
        Receiver of each record read from the ring, as a 256-bit integer.
    """

    def __init__(
        self,
        bench: Bench,
        registers: RegisterAgent,
        memory: AxiMemory,
        on_record: Callable[[int], None],
    ):
        self._bench = bench
        self._registers = registers
        self._memory = memory
        self._on_record = on_record
        self._tail = 0
        self._irq = bench.pins.reader("irq")

    async def launch(
        self, region: Region, ring_base: int, ring_log2: int, *, report_filter: bool = False
    ) -> None:
        """Clear counters and launch a kernel; gives back when the device takes transactions.

        Raises
        ------
        RegisterError
            If the device refuses.
        """
        self._ring_base, self._ring_mask = ring_base, (1 << ring_log2) - 1
        self._control = {
            "enable": 1, "report_filter_enable": int(report_filter), "interrupt_enable": 1,
        }  # fmt: skip
        write = self._registers.write
        for name, base in (
            ("DATA", region.data_base),
            ("METADATA", region.metadata_base),
            ("REPORT", ring_base),
        ):
            await write(f"{name}_BASE_LO", base % _WRAP)
            await write(f"{name}_BASE_HI", base // _WRAP)
        await write("REGION_SIZE_LOG2", region.size_log2)
        await write("REPORT_CAPACITY_LOG2", ring_log2)
        await self.control(launch=1, clear_counters=1)
        # The device writes every metadata entry first, at best one a cycle; a poll takes several.
        await self._poll("busy", 0, _POLLS + region.entries(self._bench.params))
        if await self.status("config_error"):
            raise RegisterError(f"Launch with {region} must be accepted")

    async def control(self, **pulses: int) -> None:
        """Write CONTROL as launched, with more fields set."""
        await self._registers.write(
            "CONTROL", self._registers.map.pack("CONTROL", **(self._control | pulses))
        )

    async def status(self, field: str) -> int:
        """A field of STATUS."""
        word = await self._registers.read("STATUS")
        return self._registers.map.fields("STATUS", word)[field]

    async def _poll(self, field: str, value: int, polls: int = _POLLS) -> None:
        for _ in range(polls):
            if await self.status(field) == value:
                return
        raise RegisterError(f"STATUS.{field} must become {value}")

    async def wait_idle(self) -> None:
        """Wait until the device has finished everything."""
        await self._poll("idle", 1)

    async def drain(self) -> int:
        """Read all records in the ring; gives their number."""
        head = await self._registers.read("REPORT_HEAD")
        count = (head - self._tail) % _WRAP
        if count > self._ring_mask + 1:
            raise RegisterError(f"Records in the ring must fit, not {count}")
        for number in range(self._tail, self._tail + count):
            base = self._ring_base + (number & self._ring_mask) * _RECORD_BYTES
            record = 0
            for beat in range(_RECORD_BYTES // _BEAT_BYTES):
                word = self._memory.read_word(base + beat * _BEAT_BYTES)
                record |= word << 64 * beat
            self._on_record(record)
        self._tail = head
        await self._registers.write("REPORT_TAIL", head)
        return count

    async def check_irq(self) -> None:
        """The interrupt line must be high if, and only if, the ring holds records."""
        head = await self._registers.read("REPORT_HEAD")
        waiting = int(head != self._tail)
        if self._irq() != waiting:
            raise RegisterError(f"Interrupt line must be {waiting}, not {self._irq()}")

    async def counters(self) -> dict[str, int]:
        """All counter registers by name in lower case."""
        return {name: await self._registers.read(name.upper()) for name in COUNTERS}
