"""Environment of a GPU detector: every agent of the system, scoreboard, launches."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import cocotb
from cocotb.triggers import RisingEdge, ValueChange

from racetrap.golden_model.gpu.region import port_of
from racetrap.golden_model.gpu.region_table import MonitoredRegion, RegionTable
from racetrap.golden_model.gpu.valid_table import clearing_cycles
from racetrap.sim.cosim.comparison.mismatch import Mismatch, compare_counters
from racetrap.sim.cosim.gpu.gpu_software import GpuSoftware
from racetrap.sim.cosim.gpu.sweep import BEGUN, ENGINE, INDEX, is_swept, sweep_jumps
from racetrap.tb.axi_memory import AxiMemory
from racetrap.tb.gpu.scoreboard import GpuScoreboard
from racetrap.tb.memory_knobs import MemoryKnobs
from racetrap.tb.port_coverage import watch_streams
from racetrap.tb.register_agent import RegisterError, SoftwareThread, poll
from racetrap.tb.report_ring import RING_BASE, ReportRingEnvironment
from racetrap.tb.stream_agent import StreamAgent, StreamMonitor
from racetrap.tb.third_party_memory import ThirdPartyMemory


class GpuEnvironment(ReportRingEnvironment):
    """Testbench around one system with a trace port; subclasses define a detector's parts.

    Configuration (ConfigDB): ``TESTBENCH``.

    Attributes
    ----------
    sms : list of StreamAgent
        One for each SM.
    metadata : list of AxiMemory
        Memory of each bank; empty with on-chip metadata.
    registers, report_memory, scoreboard, software
        As of ``ReportRingEnvironment``.
    model_class, scoreboard_class, transaction_type, step_type, packet_type : type
        Classes of the detector.
    has_third_party_memory : bool
        Put cocotbext-axi's memory behind the metadata ports, for an independent check of AXI4;
        set before the build phase.  ``metadata`` is empty then.
    """

    model_class: Any
    scoreboard_class: type[GpuScoreboard]
    transaction_type: Any
    step_type: Any
    packet_type: Any
    has_third_party_memory = False

    def build_phase(self) -> None:
        super().build_phase()
        params = self._testbench.params
        knobs = MemoryKnobs(**self._testbench.plan.get("memory", {}))
        self.sms = [
            StreamAgent(
                f"sm_{sm}", self, f"i_transaction__{sm}", params.transaction_layout,
                partial(self.transaction, sm),
            )
            for sm in range(params.sm_count)
        ]  # fmt: skip
        count = 0 if params.local_bytes else params.metadata_ports
        ports = [f"m_axi_metadata__{port}" for port in range(count)]
        self.metadata: list[AxiMemory] = []
        self._third_party: list[ThirdPartyMemory] = []
        if self.has_third_party_memory or params.words_per_cycle > 1:
            self._third_party = [
                ThirdPartyMemory(self._testbench, port, params.entry_bytes) for port in ports
            ]
        else:
            self.metadata = [
                AxiMemory(port, self, port, 1, knobs, params.entry_bytes) for port in ports
            ]
        self.traces = [self.trace(f"trace__{bank}", bank) for bank in range(params.banks)]
        self.scoreboard = self.scoreboard_class("scoreboard", self)

    def trace(self, port: str, bank: int) -> StreamMonitor:
        """Monitor of a trace port of a bank."""
        params = self._testbench.params
        return StreamMonitor(
            f"monitor_{port}", self, port, params.step_layout, partial(self._step, bank)
        )

    def _step(self, bank: int, *values: int) -> tuple[int, Any]:
        fields = len(self.packet_type._fields)
        return bank, self.step_type(self.packet_type(*values[:fields]), *values[fields:])

    def transaction(self, sm: int, *values: int) -> tuple[Any, ...]:
        """A transaction from an SM, in the form for the scoreboard."""
        return sm, self.transaction_type(*values)

    def connect_phase(self) -> None:
        scoreboard = self.scoreboard
        for agent in self.sms:
            agent.monitor.connect(scoreboard.transactions)
        for trace in self.traces:
            trace.connect(scoreboard.steps)
        for memory in self.metadata:
            memory.reads.connect(scoreboard.reads)
        for memory in (*self.metadata, self.report_memory):
            memory.hit = scoreboard.coverage.hit
        scoreboard.knows_reads = bool(self.metadata)
        testbench, coverage = self._testbench, scoreboard.coverage
        ports = [f"i_transaction__{sm}__" for sm in range(len(self.sms))]
        watch_streams(testbench, coverage, "transaction", ports)
        testbench.clocking.when(testbench.pins.flag("irq"), partial(coverage.hit, "irq"))
        self.software = SoftwareThread(GpuSoftware(self.registers.port, self._wait_until))
        self._entries, self._is_preset = 0, False

    async def launch(
        self, region: MonitoredRegion, ring_log2: int, *, report_filter: bool = False
    ) -> None:
        """Launch a kernel, and reset the scoreboard.

        The metadata of a large region are preset (``racetrap.sim.cosim.gpu.sweep``).
        """
        params = self._testbench.params
        self._is_preset = bool(self.metadata) and not is_swept(params, region)
        for memory in self.metadata:
            memory.words.clear()  # words not initialised by a launch read as random values
            memory.preset = params.uninitialised_entry if self._is_preset else None
        for memory in (*self.metadata, self.report_memory):
            memory.read_errors = memory.write_errors = 0
        self._entries = 0 if self._is_preset else region.entries(params)
        engines = [
            cocotb.start_soon(self._shorten_sweep(port, sweep_jumps(params, region, port)[0]))
            for port in range(len(self.metadata) if self._is_preset else 0)
        ]
        await self.software.set_up(region, RING_BASE, ring_log2)
        if not await self.software.launch(report_filter=report_filter, interrupt=True):
            raise RegisterError(f"Launch must take the region, not refuse {region}")
        for engine in engines:
            await engine
        self.scoreboard.launch(region)
        self._region = region

    async def _shorten_sweep(self, port: int, jumps: Sequence[tuple[int, int]]) -> None:
        """Make a port's initialisation engine, once it begins, jump over most of the region."""
        engine = self._testbench.pins.inside(ENGINE.format(port))
        await RisingEdge(getattr(engine, BEGUN))
        index = getattr(engine, INDEX)
        for at, to in jumps:
            while index.value.to_unsigned() != at:
                await ValueChange(index)
            index.value = to

    def _wait_until(self, is_done: Callable[[], bool], what: str) -> None:
        # A launch writes every metadata entry, at best one a cycle; a poll takes several cycles.
        poll(is_done, what, self._entries + clearing_cycles(self._testbench.params))

    async def drain(self) -> None:
        """Read all records in the ring."""
        for record in await self.records():
            self.scoreboard.report_read(record)

    async def finish(self) -> dict[str, int]:
        """Wait until all is done, then compare the remaining state.

        Returns
        -------
        dict of str to int
            The device's counters.
        """
        software, scoreboard = self.software, self.scoreboard
        clocking = self._testbench.clocking
        await clocking.until(
            lambda: scoreboard.is_settled, "not every packet has made a step", 50_000
        )
        await software.wait_idle()
        await self.check_irq()
        await self.drain()
        await clocking.cycles(2)
        await self.check_irq()
        if not all(memory.is_idle for memory in (*self.metadata, self.report_memory)):
            raise Mismatch("Requests open in an idle device must number 0")
        counters = await software.counters()
        self._cover_counters(counters)
        memory = self._entry if self.metadata or self._third_party else None
        errors = sum(agent.read_errors for agent in self.metadata)
        scoreboard.finish(counters, memory, errors, self._reached())
        compare_counters(counters, {
            "metadata_write_errors": sum(agent.write_errors for agent in self.metadata),
            "report_write_errors": self.report_memory.write_errors,
        })  # fmt: skip
        return counters

    def _entry(self, index: int) -> int:
        params, memories = self._testbench.params, self.metadata or self._third_party
        address = self._region.metadata_base + index * params.entry_bytes
        base = self._region.metadata_base
        if isinstance(self._region, RegionTable):
            base = next(
                one.metadata_base
                for one in self._region.regions
                if one.metadata_base <= address < one.metadata_end(params)
            )
        memory = memories[port_of(params, (address - base) // params.segment_bytes)]
        return memory.read_word(address)

    def _reached(self) -> list[int] | None:
        """Indices of the metadata entries in preset memories; None if all have been written."""
        if not self._is_preset:
            return None
        base = self._region.metadata_base
        size = self._testbench.params.entry_bytes
        return [(place - base) // size for memory in self.metadata for place in memory.words]

    def _cover_counters(self, counters: dict[str, int]) -> None:
        for counter, name in (
            ("reports_dropped", "report.dropped"),
            ("reports_suppressed", "report.suppressed"),
            ("stall_cycles", "packet.stalled"),
        ):
            if counters[counter]:
                self.scoreboard.coverage.hit(name, counters[counter])
