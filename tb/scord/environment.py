"""The environment: every agent of the device, the scoreboard, and the launch protocol."""

from __future__ import annotations

from functools import partial

from pyuvm import ConfigDB, uvm_env

from racetrap.golden_model.scord.packets import Packet, Step, Transaction
from racetrap.golden_model.scord.params import ENTRY_BYTES, Region
from racetrap.sim.cosim.comparison.mismatch import Mismatch
from racetrap.tb.axi_memory import AxiMemory
from racetrap.tb.bench import Bench
from racetrap.tb.memory_knobs import MemoryKnobs
from racetrap.tb.register_agent import RegisterAgent
from racetrap.tb.scord.port_coverage import watch_ports
from racetrap.tb.scord.scoreboard import ScoreboardComponent
from racetrap.tb.scord.software import Software
from racetrap.tb.stream_agent import StreamAgent
from racetrap.tb.third_party_memory import ThirdPartyMemory
from racetrap.tb.trace_monitor import TraceMonitor

__all__ = ["ScordEnvironment"]

_REPORT_BEATS = 4
_PACKET_FIELDS = len(Packet._fields)
#: Ring buffer below the metadata, and both far from the data: nothing of ours may overlap.
_RING_BASE = 0x2000


def _transaction(sm: int, *values: int) -> tuple[int, Transaction]:
    return sm, Transaction(*values)


def _step(bank: int, *values: int) -> tuple[int, Step]:
    return bank, Step(Packet(*values[:_PACKET_FIELDS]), *values[_PACKET_FIELDS:])


class ScordEnvironment(uvm_env):
    """Bench around one ``ScordSystem`` with a trace port.

    Configuration (ConfigDB): ``BENCH``.

    Attributes
    ----------
    sms : list of StreamAgent
        One for each SM.
    metadata : list of AxiMemory
        Memory of each bank; empty with metadata on the chip.
    report_memory : AxiMemory
        Memory of the ring buffer.
    registers : RegisterAgent
        Register port.
    scoreboard : ScoreboardComponent
        Comparison with the golden model.
    has_third_party_memory : bool
        Put cocotbext-axi's memory behind the metadata ports, so that our reading of AXI4 is not
        its only judge; set before the build phase.  ``metadata`` is empty then.
    software : Software
        Driver software, once the components are connected.
    """

    has_third_party_memory = False

    def build_phase(self) -> None:
        self._bench: Bench = ConfigDB().get(self, "", "BENCH")
        params = self._bench.params
        knobs = MemoryKnobs(**self._bench.plan.get("memory", {}))
        self.registers = RegisterAgent("registers", self)
        self.sms = [
            StreamAgent(
                f"sm_{sm}", self, f"i_transaction__{sm}", params.transaction_layout,
                partial(_transaction, sm),
            )
            for sm in range(params.sm_count)
        ]  # fmt: skip
        ports = [
            f"m_axi_metadata__{bank}" for bank in range(0 if params.local_bytes else params.banks)
        ]
        self.metadata: list[AxiMemory] = []
        self._third_party: list[ThirdPartyMemory] = []
        if self.has_third_party_memory:
            self._third_party = [ThirdPartyMemory(self._bench, port) for port in ports]
        else:
            self.metadata = [AxiMemory(port, self, port, 1, knobs) for port in ports]
        report_knobs = MemoryKnobs(**self._bench.plan.get("report_memory", {}))
        self.report_memory = AxiMemory(
            "report_memory", self, "m_axi_report", _REPORT_BEATS, report_knobs
        )
        self.traces = [
            TraceMonitor(
                f"trace_{bank}", self, f"trace__{bank}", params.step_layout, partial(_step, bank)
            )
            for bank in range(params.banks)
        ]
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
            memory.words.clear()  # what a launch does not initialise reads as junk
        for memory in (*self.metadata, self.report_memory):
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
            raise Mismatch("Requests open in an idle device must number 0")
        counters = await software.counters()
        self._cover_counters(counters)
        memory = self._entry if self.metadata or self._third_party else None
        errors = sum(agent.read_errors for agent in self.metadata)
        scoreboard.finish(counters, memory, errors)
        self._check_write_errors(counters)
        return counters

    def _entry(self, index: int) -> int:
        memories = self.metadata or self._third_party
        memory = memories[index % len(memories)]
        return memory.read_word(self._region.metadata_base + index * ENTRY_BYTES)

    def _check_write_errors(self, counters: dict[str, int]) -> None:
        for name, agents in (
            ("metadata_write_errors", self.metadata),
            ("report_write_errors", [self.report_memory]),
        ):
            errors = sum(agent.write_errors for agent in agents)
            if counters[name] != errors:
                raise Mismatch(f"Counter {name} must be {errors}, not {counters[name]}")

    def _cover_counters(self, counters: dict[str, int]) -> None:
        for counter, name in (
            ("reports_dropped", "report.dropped"),
            ("reports_suppressed", "report.suppressed"),
            ("stall_cycles", "packet.stalled"),
        ):
            if counters[counter]:
                self.scoreboard.coverage.hit(name, counters[counter])
