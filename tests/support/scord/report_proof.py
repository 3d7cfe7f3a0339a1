"""Harness for a proof on reports: what is found is written, dropped, suppressed or still held."""

from __future__ import annotations

from amaranth.hdl import Assume, Cat, Module, Signal
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out

from racetrap.golden_model.scord.packets import RaceKind
from racetrap.golden_model.scord.params import ScordParams
from racetrap.rtl.common.layout import struct_layout
from racetrap.rtl.gpu.metadata_accessor import checked_packet, packet_with_entry
from tests.support.formal.internals import OpenComponent
from tests.support.formal.proof import Case, Harness
from tests.support.planted_bugs import modules_with

_PATH, _LANE = "gpu/report_path.py", "scord/check_lane.py"
_FILES = (
    "common/stream.py", "common/arbiter.py", "common/report_writer.py", "gpu/report_filter.py",
    "gpu/report_encoder.py", "gpu/check_lane.py", _PATH, _LANE,
)  # fmt: skip
_COUNT_BITS = 6
#: The filter's last state, and the number of the writer's.
_PASS, _WRITER_STATES = 3, 3


class _AnySteps(wiring.Component):
    """Stands for a check pipeline: its steps are the harness' to choose."""

    def __init__(self, params: ScordParams):
        checked = stream.Signature(checked_packet(params), always_ready=True)
        step = Out(stream.Signature(struct_layout(params.step_layout), always_ready=True))
        super().__init__({
            "i": In(stream.Signature(packet_with_entry(params), always_ready=True)),
            "o_step": step, "o_fences": step.array(params.fence_lanes - 1),
            "o_checked": Out(checked), "i_clear": In(1), "o_busy": Out(1),
            # What the harness chooses.
            "i_valid": In(1), "i_race": In(3), "i_pc": In(params.pc_bits),
        })  # fmt: skip

    def elaborate(self, platform):
        m = Module()
        m.d.comb += [
            self.o_step.valid.eq(self.i_valid),
            self.o_step.p.race.eq(self.i_race),
            self.o_step.p.packet.pc.eq(self.i_pc),
        ]
        return m


class ReportHarness(Harness):
    """The report part of all check lanes, and the report path, with free steps and a free memory.

    Parameters
    ----------
    params : ScordParams
        Configuration, with report FIFOs of three places or more.
    case : Case
        What is asked.
    """

    def __init__(self, params: ScordParams, case: Case):
        self._params = params
        modules = modules_with(_FILES, case.bug)
        self._pipelines: list[_AnySteps] = []

        def any_steps(params):
            self._pipelines.append(_AnySteps(params))
            return self._pipelines[-1]

        modules[_LANE].CheckLane.pipeline = staticmethod(any_steps)
        self._lanes = [modules[_LANE].CheckLane(params) for _ in range(params.banks)]
        self._path = modules[_PATH].ReportPath(params)
        super().__init__(case, {
            "i_valid": In(params.banks), "i_race": In(3), "i_pc": In(params.pc_bits),
            "i_tail": In(32), "i_capacity_log2": In(5), "i_enable": In(1), "i_clear": In(1),
            "i_awready": In(1), "i_wready": In(1), "i_bvalid": In(1), "i_bresp": In(2),
        })  # fmt: skip

    def elaborate(self, platform):
        m = Module()
        path, axi = self._path, self._path.m_axi
        inner = OpenComponent(path)
        m.submodules.path = inner.fragment
        m.d.comb += [
            path.i_tail.eq(self.i_tail),
            path.i_capacity_log2.eq(self.i_capacity_log2),
            path.i_filter_enable.eq(self.i_enable),
            path.i_clear.eq(self.i_clear),
            axi.awready.eq(self.i_awready),
            axi.wready.eq(self.i_wready),
            axi.bvalid.eq(self.i_bvalid),
            axi.bresp.eq(self.i_bresp),
            Assume(self.i_race <= max(RaceKind)),
        ]
        levels = [self._elaborate_lane(m, bank) for bank in range(self._params.banks)]
        counts = [lane.o_count for lane in self._lanes]
        found = sum(
            count[f"races_{race.name.lower()}"] for count in counts for race in RaceKind if race
        )
        lost = sum(count.reports_dropped for count in counts)
        held = Signal(_COUNT_BITS)
        m.d.sync += held.eq(
            held + found - lost - path.o_suppressed - path.o_written - path.o_dropped
        )
        lanes_idle = Cat(lane.o_idle for lane in self._lanes).all()
        in_filter = ~inner["filter.o_idle"] & ~path.o_busy
        in_path = inner["arbiter.register.o__valid"] + in_filter + ~inner["writer.o_idle"]
        is_clearing = path.o_busy
        # Clearing holds nothing, but the path is not idle then.
        rules = [
            ~(lanes_idle & path.o_idle) | (held == 0),
            (held != 0) | is_clearing | (lanes_idle & path.o_idle),
            held <= self._params.banks * self._params.report_fifo_depth + 3,
        ]
        events = {
            "written": path.o_written,
            "suppressed": path.o_suppressed,
            "dropped-at-the-ring": path.o_dropped & ~path.o_write_error,
            "dropped-by-an-error": path.o_write_error,
            "dropped-at-a-lane": lost != 0,
            "two-found": found == self._params.banks,
        }
        state, passes = inner["filter.fsm_state"], inner["filter.o__valid"]
        helps = [
            held == sum(level for level, _ in levels) + in_path,
            *(waiting < self._params.report_fifo_depth for _, waiting in levels),
            passes == (state == _PASS),
            inner["writer.fsm_state"] < _WRITER_STATES,
        ]
        self.state(m, rules, events, helps)
        return m

    def _elaborate_lane(self, m: Module, bank: int):
        """One lane with its steps; the reports in its FIFO, and those of them in its memory."""
        lane = self._lanes[bank]
        opened = OpenComponent(lane)
        m.submodules[f"lane_{bank}"] = opened.fragment
        wiring.connect(m, lane.o_report, self._path.i[bank])
        pipeline = self._pipelines[bank]
        m.d.comb += [
            lane.i_bank.eq(bank),
            pipeline.i_valid.eq(self.i_valid[bank]),
            pipeline.i_race.eq(self.i_race),
            pipeline.i_pc.eq(self.i_pc),
        ]
        return opened["reports.queue.level"], opened["reports.queue.inner_level"]
