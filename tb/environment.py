"""The environment: every agent of the device, the scoreboard, and the launch protocol."""

from __future__ import annotations

from pyuvm import ConfigDB, uvm_env

from racetrap.golden_model.scord.params import ENTRY_BYTES, Region
from racetrap.tb.axi_memory import AxiMemory, MemoryKnobs
from racetrap.tb.bench import Bench
from racetrap.tb.port_coverage import watch_ports
from racetrap.tb.register_agent import RegisterAgent
from racetrap.tb.scoreboard import ScoreboardComponent
from racetrap.tb.software import Software
from racetrap.tb.trace_monitor import TraceMonitor
from racetrap.tb.transaction_agent import TransactionAgent

__all__ = ["ScordEnvironment"]

_REPORT_BEATS = 4
#: Ring buffer below the metadata, and both far from the data: nothing of ours may overlap.
_RING_BASE = 0x2000


class ScordEnvironment(uvm_env):
    """Bench around one ``ScordSystem`` with a trace port.

    Configuration (ConfigDB): ``BENCH``; and ``METADATA_AGENTS``, false if a test puts its own
    memory behind the metadata ports.

    Attributes
    ----------
    sms : list of TransactionAgent
        One for each SM.
    metadata : list of AxiMemory
        Memory of each bank; empty with metadata on the chip.
    report_memory : AxiMemory
        Memory of the ring buffer.
    registers : RegisterAgent
        Register port.
    scoreboard : ScoreboardComponent
        Comparison with the golden model.
    software : Software
        Driver software, once the components are connected.
    """

    def build_phase(self) -> None:
        self._bench: Bench = ConfigDB().get(self, "", "BENCH")
        params = self._bench.params
        knobs = MemoryKnobs(**self._bench.plan.get("memory", {}))
        self.registers = RegisterAgent("registers", self)
        self.sms = [TransactionAgent(f"sm_{sm}", self, sm) for sm in range(params.sm_count)]
        has_metadata = not params.local_bytes and ConfigDB().get(self, "", "METADATA_AGENTS")
        self.metadata = [
            AxiMemory(f"metadata_{bank}", self, f"m_axi_metadata__{bank}", 1, knobs)
            for bank in range(params.banks if has_metadata else 0)
        ]
        report_knobs = MemoryKnobs(**self._bench.plan.get("report_memory", {}))
        self.report_memory = AxiMemory(
            "report_memory", self, "m_axi_report", _REPORT_BEATS, report_knobs
        )
        self.traces = [TraceMonitor(f"trace_{bank}", self, bank) for bank in range(params.banks)]
        self.scoreboard = ScoreboardComponent("scoreboard", self)

    def connect_phase(self) -> None:
        scoreboard = self.scoreboard
        for agent in self.sms:
            agent.monitor.connect(scoreboard.transactions)
        for trace in self.traces:
            trace.steps.connect(scoreboard.steps)
        for memory in self.metadata:
            memory.reads.connect(scoreboard.reads)
        for memory in (*self.metadata, self.report_memory):
            memory.hit = scoreboard.coverage.hit
        scoreboard.knows_reads = bool(self.metadata)
        watch_ports(self._bench, scoreboard.coverage)
        self.software = Software(
            self._bench, self.registers, self.report_memory, scoreboard.report_read
        )

    async def launch(self, region: Region, ring_log2: int, *, report_filter: bool = False) -> None:
        """Launch a kernel, and let the scoreboard begin anew."""
        for memory in self.metadata:
            memory.words.clear()
            memory.read_errors = memory.write_errors = 0
        await self.software.launch(region, _RING_BASE, ring_log2, report_filter=report_filter)
        self.scoreboard.launch(region)
        self._region = region

    async def finish(self) -> dict[str, int]:
        """Wait until all is done, then compare what is left to compare.

        Returns
        -------
        dict of str to int
            The device's counters.
        """
        software, scoreboard = self.software, self.scoreboard
        clocking = self._bench.clocking
        await clocking.until(
            lambda: scoreboard.is_settled, "not every packet has made a step", 50_000
        )
        await software.wait_idle()
        await software.check_irq()
        await software.drain()
        await clocking.cycles(2)
        await software.check_irq()
        if not all(memory.is_idle for memory in (*self.metadata, self.report_memory)):
            raise AssertionError("An idle device must have no request open")
        counters = await software.counters()
        self._cover_counters(counters)
        memory = self._entry if self.metadata else None
        errors = sum(agent.read_errors for agent in self.metadata)
        scoreboard.finish(counters, memory, errors)
        self._check_write_errors(counters)
        return counters

    def _entry(self, index: int) -> int:
        memory = self.metadata[index % len(self.metadata)]
        return memory.read_word(self._region.metadata_base + index * ENTRY_BYTES)

    def _check_write_errors(self, counters: dict[str, int]) -> None:
        errors = sum(agent.write_errors for agent in self.metadata)
        if self.metadata and counters["metadata_write_errors"] != errors:
            raise AssertionError(
                f"Counter metadata_write_errors must be {errors}, "
                f"not {counters['metadata_write_errors']}"
            )

    def _cover_counters(self, counters: dict[str, int]) -> None:
        for counter, name in (
            ("reports_dropped", "report.dropped"),
            ("reports_suppressed", "report.suppressed"),
            ("stall_cycles", "packet.stalled"),
        ):
            if counters[counter]:
                self.scoreboard.coverage.hit(name, counters[counter])
