"""Harness for a proof on what a detector writes: registers, launch control and both writers."""

from __future__ import annotations

from amaranth.hdl import Assume, Cat, Module, Mux, Signal, Value
from amaranth.lib.wiring import In

from racetrap.golden_model.layout import Layout
from racetrap.golden_model.scord.params import ScordParams
from racetrap.rtl.common.axi import AxiLiteSignature
from racetrap.rtl.common.registers import REGISTER_ADDRESS_BITS
from racetrap.rtl.scord.registers import compile_registers
from tests.support.formal.internals import OpenComponent
from tests.support.formal.proof import Case, Harness
from tests.support.planted_bugs import modules_with

_FILES = (
    "common/registers.py", "gpu/protection.py", "gpu/region.py", "gpu/launch_control.py",
    "gpu/entry_writer.py", "common/report_writer.py", "gpu/register_wiring.py",
)  # fmt: skip
_RECORD = 32
_REPORT = Layout({"pc": 8, "sequence": 32})
_CHANNELS = {
    "awvalid": 1, "awaddr": REGISTER_ADDRESS_BITS, "awprot": 3, "wvalid": 1, "wdata": 32,
    "wstrb": 4, "bready": 1,
}  # fmt: skip
_BOUNDS = [
    f"{part}_BOUNDS_{end}_{half}"
    for part in ("METADATA", "REPORT")
    for end in ("BASE", "LIMIT")
    for half in ("LO", "HI")
]
#: Registers that say what is written, and where.
_STORED = (
    "DATA_BASE_LO", "DATA_BASE_HI", "REGION_SIZE_LOG2", "METADATA_BASE_LO", "METADATA_BASE_HI",
    "REPORT_BASE_LO", "REPORT_BASE_HI", "REPORT_CAPACITY_LOG2", *_BOUNDS,
)  # fmt: skip


class BoundsHarness(Harness):
    """Registers with any software, launches, segments of any accesses, and reports.

    Segments and reports come at any time after a launch, and memory takes them at any time.  While
    the rest of the detector says that nothing is in flight, none comes.  During a launch segments
    are any of the region, as of the initialisation; else they are where the decoder finds accesses.

    Parameters
    ----------
    params : ScordParams
        Configuration, with ``protection``.
    case : Case
        What is asked.
    """

    def __init__(self, params: ScordParams, case: Case):
        self._params = params
        modules = modules_with(_FILES, case.bug)
        names = ("CONTROL", "STATUS", "PROTECTION", "BOUNDS", "BUS_ATTRIBUTES", *_STORED)
        self._registers = modules["common/registers.py"].RegisterBlock(
            compile_registers(params), names=names
        )
        self._launch = modules["gpu/launch_control.py"].LaunchControl(params)
        self._entries = modules["gpu/entry_writer.py"].EntryWriter(params)
        self._decoder = modules["gpu/region.py"].RegionDecoder(params)
        self._reports = modules["common/report_writer.py"].ReportWriter(
            _REPORT, params.address_bits
        )
        self._connect_launch = modules["gpu/register_wiring.py"].connect_launch
        super().__init__(case, {
            **{f"i_{name}": In(width) for name, width in _CHANNELS.items()},
            "i_idle": In(1), "i_busy": In(1), "i_segment": In(1),
            "i_index": In(len(self._entries.i.p.index)), "i_word": In(params.word_bits),
            "i_report": In(1), "i_ready": In(4),
            "i_answer": In(1), "i_tail": In(32),
        })  # fmt: skip

    def elaborate(self, platform):
        m = Module()
        registers, launch = self._registers, self._launch
        self._page, self._control = OpenComponent(registers), OpenComponent(launch)
        m.submodules.registers = self._page.fragment
        m.submodules.launch = self._control.fragment
        bus = AxiLiteSignature(address_bits=REGISTER_ADDRESS_BITS).create()
        m.d.comb += [getattr(bus, name).eq(getattr(self, f"i_{name}")) for name in _CHANNELS]
        self._connect_launch(m, self._params, registers, launch, bus, {})
        self._elaborate_writers(m)
        region, bounds = launch.o_region, self._bounds(m)
        entries = (1 << region.size_log2)[: self._params.address_bits] >> (
            self._params.granularity_bits + self._params.tag_bits
        )
        m.d.comb += [
            launch.i_busy.eq(self.i_busy),
            Assume(~self._entries.i.valid | ~launch.o_hold | (self.i_index < entries)),
        ]
        if self._case.bug is not None:
            # A bug is looked for with whole words, sent and answered at once.
            m.d.comb += Assume(
                (self.i_awvalid == self.i_wvalid) & self.i_wstrb.all() & self.i_bready
            )
        metadata_end = region.metadata_base + entries * self._params.segment_bytes
        ring_end = launch.o_report_base + (_RECORD << launch.o_report_capacity_log2)
        metadata, ring = self._entries.m_axi, self._reports.m_axi
        admitted, before, stored = self._elaborate_admission(m)
        was_launched, bounds_before = Signal(), Signal.like(Value.cast(bounds))
        m.d.sync += [was_launched.eq(launch.o_launched), bounds_before.eq(bounds)]
        rules = [
            ~metadata.awvalid | _lies(metadata.awaddr, self._params.segment_bytes, bounds.metadata),
            ~ring.awvalid | _lies(ring.awaddr, _RECORD, bounds.report),
            ~was_launched | (Value.cast(bounds) == bounds_before),
            (stored == before) | admitted,
        ]
        events = {
            "segment-written": metadata.awvalid,
            "second-report": ring.awvalid & (ring.awaddr != launch.o_report_base),
            "narrow": metadata.awvalid
            & (bounds.metadata.base != 0)
            & (metadata.awaddr + self._params.segment_bytes - 1 == bounds.metadata.limit),
            "outside": launch.o_outside,
            "refused-write": registers.o_refused.writes & registers.protection.secure_writes,
            "second-launch": launch.o_taken & launch.o_launched,
        }
        is_legal = (
            (region.size_log2 >= self._params.min_region_log2)
            & (region.size_log2 <= self._params.max_region_log2)
            & (metadata_end <= 1 << self._params.address_bits)
            & (ring_end <= 1 << self._params.address_bits)
            & (launch.o_report_base % _RECORD == 0)
            & (region.metadata_base % self._params.segment_bytes == 0)
            & (region.metadata_base >= bounds.metadata.base)
            & (metadata_end <= bounds.metadata.limit + 1)
            & (launch.o_report_base >= bounds.report.base)
            & (ring_end <= bounds.report.limit + 1)
        )
        self.state(m, rules, events, self._helps(m, is_legal, entries, ring_end))
        return m

    def _bounds(self, m: Module) -> Signal:
        """The bounds in the registers, whatever launch control is given."""
        bounds = Signal(self._launch.i_bounds.shape())
        words = [getattr(self._registers, name.lower()).value for name in _BOUNDS]
        m.d.comb += bounds.eq(Cat(words))
        return bounds

    def _elaborate_writers(self, m: Module) -> None:
        """Connect the writers; what they hold keeps a launch waiting."""
        launch, entries, reports = self._launch, self._entries, self._reports
        m.submodules.decoder = decoder = self._decoder
        self._writer, self._ring = OpenComponent(entries), OpenComponent(reports)
        m.submodules.entries, m.submodules.reports = self._writer.fragment, self._ring.fragment
        comes = launch.o_launched & ~launch.i_idle
        m.d.comb += [
            launch.i_idle.eq(
                self.i_idle & reports.o_idle & ~entries.m_axi.awvalid & ~entries.m_axi.wvalid
            ),
            entries.i_region.eq(launch.o_region),
            entries.i.valid.eq(comes & self.i_segment),
            decoder.i_region.eq(launch.o_region),
            decoder.i_word.eq(self.i_word),
            entries.i.p.index.eq(Mux(launch.o_hold, self.i_index, decoder.o_index)),
            reports.i.valid.eq(comes & self.i_report),
            reports.i_base.eq(launch.o_report_base),
            reports.i_capacity_log2.eq(launch.o_report_capacity_log2),
            reports.i_tail.eq(self.i_tail),
            Cat(
                entries.m_axi.awready, entries.m_axi.wready,
                reports.m_axi.awready, reports.m_axi.wready,
            ).eq(self.i_ready),
            # The ring's memory answers a burst after it has both address and data.
            reports.m_axi.bvalid.eq(self.i_answer & ~reports.m_axi.awvalid),
        ]  # fmt: skip

    def _elaborate_admission(self, m: Module) -> tuple[Value, Signal, Value]:
        """Whether a write of the cycle before was privileged and secure, if that was required;
        what the registers held then, and what they hold."""
        page, axi = self._registers.protection, self._registers.s_axil
        prot = Signal(3)
        with m.If(axi.awvalid & axi.awready):
            m.d.sync += prot.eq(axi.awprot)
        stored = Cat(
            *(getattr(self._registers, name.lower()).value for name in _STORED),
            page.privileged_writes, page.secure_writes,
            self._registers.control.enable, self._registers.control.launch,
        )  # fmt: skip
        before, admitted, launched = Signal(len(stored)), Signal(init=1), Signal()
        m.d.sync += [
            before.eq(stored),
            admitted.eq(
                ~(page.privileged_writes & page.secure_writes)
                | (self._page["write"] & prot[0] & ~prot[1])
            ),
            launched.eq(self._registers.control.launch),
        ]
        self._prot = prot
        # A pulse ends by itself.
        return admitted | launched, before, stored

    def _helps(self, m: Module, is_legal, entries, ring_end) -> list[Value]:
        """What the induction needs beside."""
        launch, ring = self._launch, self._reports.m_axi
        writes, state = self._writer["write"], self._ring["fsm_state"]
        index = self._entries.i.p.index
        held = writes[-len(index) :] if isinstance(writes, Value) else writes.index
        return [
            self._control["fsm_state"] <= 4,
            ~launch.o_launched | is_legal,
            ~launch.o_launched | self._page["bounds_lock"],
            ~self._page["have_address"] | (self._page["prot"] == self._prot),
            launch.o_launched | (~self._entries.m_axi.awvalid & ~ring.awvalid & (state == 0)),
            ~self._entries.m_axi.awvalid | (held < entries),
            state < 3,
            (state != 0) | ~ring.awvalid,
            ~ring.awvalid
            | ((ring.awaddr >= launch.o_report_base) & (ring.awaddr + _RECORD <= ring_end)),
        ]


def _lies(address: Value, size: int, bounds) -> Value:
    """Whether an access of so many bytes keeps to its bounds."""
    return (address >= bounds.base) & (address + (size - 1) <= bounds.limit)
