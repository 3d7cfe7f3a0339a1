"""Base of environments whose device reports in a ring buffer and raises an interrupt line."""

from __future__ import annotations

from typing import Any

from pyuvm import ConfigDB, uvm_env

from racetrap.sim.cosim.comparison.mismatch import Mismatch
from racetrap.tb.axi_memory import AxiMemory
from racetrap.tb.memory_knobs import MemoryKnobs
from racetrap.tb.register_agent import RegisterAgent, SoftwareThread
from racetrap.tb.testbench import Testbench

_REPORT_BEATS, _BEAT_BYTES = 4, 8
#: Ring buffer below whatever else is in memory.
RING_BASE = 0x2000


class ReportRingEnvironment(uvm_env):
    """Registers, memory of the ring buffer, and what software does with the ring.

    Configuration (ConfigDB): ``TESTBENCH``; ``report_memory`` of the plan (``MemoryKnobs``).

    Attributes
    ----------
    registers : RegisterAgent
        Register port.
    report_memory : AxiMemory
        Memory of the ring buffer.
    scoreboard : uvm_component
        Comparison with the golden model.
    software : SoftwareThread
        The detector's driver software, its methods as coroutines.
    """

    scoreboard: Any
    software: SoftwareThread

    def build_phase(self) -> None:
        self._testbench: Testbench = ConfigDB().get(self, "", "TESTBENCH")
        knobs = MemoryKnobs(**self._testbench.plan.get("report_memory", {}))
        self.registers = RegisterAgent("registers", self)
        self.report_memory = AxiMemory("report_memory", self, "m_axi_report", _REPORT_BEATS, knobs)
        self._irq = self._testbench.pins.reader("irq")

    async def records(self) -> list[int]:
        """Read all records in the ring."""
        records: list[int] = await self.software.read_records(self._record)
        return records

    def _record(self, place: int) -> int:
        size = _REPORT_BEATS * _BEAT_BYTES
        words = range(RING_BASE + place * size, RING_BASE + (place + 1) * size, _BEAT_BYTES)
        return sum(self.report_memory.read_word(word) << 64 * n for n, word in enumerate(words))

    async def check_irq(self) -> None:
        """The interrupt line must be high if, and only if, the ring holds records."""
        has_records = await self.software.has_records()
        if self._irq() != has_records:
            raise Mismatch(f"Interrupt line must be {int(has_records)}, not {self._irq()}")
