"""Harness for a proof on launches: the gates, launch control, and some work that ends some time."""

from __future__ import annotations

from amaranth.hdl import Assume, Cat, Module, Signal, Value
from amaranth.lib import data
from amaranth.lib.wiring import In

from racetrap.golden_model.gpu.params import ENTRY_BYTES
from racetrap.golden_model.scord.params import ScordParams
from racetrap.rtl.common.layout import struct_layout
from tests.support.formal.internals import OpenComponent
from tests.support.formal.proof import Case, Harness
from tests.support.planted_bugs import modules_with

_FILE = "gpu/launch_control.py"
_WORK_BITS = 3


class LaunchHarness(Harness):
    """Launch control and a gate for each SM; behind the gates, work begins and ends.

    A transaction that came through a gate is work until some later cycle.  Clearing begins in the
    second cycle after its pulse at the latest, and ends some time.  SMs keep what they offer, and
    software changes registers at any time, of which ``i_written`` tells.

    Parameters
    ----------
    params : ScordParams
        Configuration.
    case : Case
        What is asked.
    """

    def __init__(self, params: ScordParams, case: Case):
        self._params = params
        module = modules_with([_FILE], case.bug)[_FILE]
        self._launch = launch = module.LaunchControl(params)
        self._gates = [module.TransactionGate(params) for _ in range(params.sm_count)]
        count = params.sm_count
        members = launch.signature.members
        super().__init__(case, {
            "i_transaction": In(struct_layout(params.transaction_layout)).array(count),
            "i_valid": In(count), "i_ready": In(count), "i_ends": In(1), "i_clearing": In(1),
            **{
                name: members[name]
                for name in (
                    "i_launch", "i_written", "i_bases", "i_size_log2", "i_capacity_log2",
                )
            },
        })  # fmt: skip

    def elaborate(self, platform):
        m = Module()
        launch = self._launch
        inner = OpenComponent(launch)
        m.submodules.launch = inner.fragment
        taken = self._elaborate_gates(m)
        work, clears = Signal(_WORK_BITS), Signal(2)
        ends = self.i_ends & (work != 0)
        m.d.sync += [
            work.eq(work + sum(taken) - ends),
            # Pulse and first cycle of a clearing that may begin a cycle later.
            clears.eq(Cat(launch.o_clear, clears[0])),
        ]
        closed = Cat(gate.o_closed for gate in self._gates).all()
        registers = Value.cast(Cat(self.i_bases, self.i_size_log2, self.i_capacity_log2))
        before, was_busy = Signal(len(registers)), Signal()
        m.d.sync += [before.eq(registers), was_busy.eq(launch.o_busy)]
        m.d.comb += [
            launch.i_launch.eq(self.i_launch),
            launch.i_written.eq(self.i_written),
            launch.i_bases.eq(self.i_bases),
            launch.i_size_log2.eq(self.i_size_log2),
            launch.i_capacity_log2.eq(self.i_capacity_log2),
            launch.i_idle.eq((work == 0) & closed & ~self.i_clearing),
            launch.i_busy.eq(self.i_clearing),
            Assume(work < (1 << _WORK_BITS) - self._params.sm_count),
            Assume(self.i_written | (registers == before)),
        ]
        # Clearing follows a pulse, and nothing else.
        was_clearing = Signal()
        m.d.sync += was_clearing.eq(self.i_clearing)
        m.d.comb += [
            Assume(~self.i_clearing | was_clearing | clears.any()),
            Assume(~clears[1] | self.i_clearing),
        ]
        in_force = Value.cast(Cat(
            launch.o_region, launch.o_report_base, launch.o_report_capacity_log2
        ))  # fmt: skip
        kept, was_launched, drained = Signal(len(in_force)), Signal(), Signal()
        waited, held = Signal(), Signal()
        m.d.sync += [
            kept.eq(in_force),
            was_launched.eq(launch.o_launched),
            drained.eq((work == 0) & closed),
            held.eq(launch.o_hold),
            waited.eq(launch.o_hold & (work == 0) & closed & ~self.i_clearing & ~self.i_written),
        ]
        is_over = was_busy & ~launch.o_busy
        rules = [
            # Nothing is unfinished when all is cleared, and nothing comes in before that is done.
            ~launch.o_clear | ((work == 0) & closed),
            ~self.i_clearing | ((work == 0) & closed),
            ~launch.o_busy | launch.o_hold,
            # The region changes between the work of one kernel and that of the next only.
            (in_force == kept) | (drained & closed & launch.o_hold),
            (in_force == kept) | self._is_taken(before),
            ~launch.o_launched | self._is_legal(),
            was_launched <= launch.o_launched,
            # A launch that has drained goes on: it clears, or is refused.
            ~(waited & held & was_busy) | launch.o_clear | clears.any() | ~launch.o_busy,
            ~is_over | launch.o_config_error | launch.o_launched,
        ]
        events = {
            "launch": is_over & launch.o_launched & ~launch.o_config_error,
            "refusal": is_over & launch.o_config_error,
            "second-launch": (in_force != kept) & was_launched,
            "drain": launch.o_hold & (work != 0),
        }
        helps = self._helps(inner, (work == 0) & closed, clears, was_clearing)
        self.state(m, [*rules, *self._gate_rules], events, helps)
        return m

    def _elaborate_gates(self, m: Module) -> list[Value]:
        """The gates; which of them a transaction comes through."""
        taken, self._gate_rules = [], []
        for number, gate in enumerate(self._gates):
            m.submodules[f"gate_{number}"] = gate
            valid, transaction = self.i_valid[number], Value.cast(self.i_transaction[number])
            m.d.comb += [
                gate.i.valid.eq(valid),
                gate.i.payload.eq(transaction),
                gate.o.ready.eq(self.i_ready[number]),
                gate.i_hold.eq(self._launch.o_hold),
            ]
            waited, waits = (Signal(name=f"{name}_{number}") for name in ("waited", "waits"))
            before = Signal.like(transaction, name=f"before_{number}")
            m.d.sync += [
                waits.eq(gate.o.valid & ~gate.o.ready),
                waited.eq(valid & ~gate.i.ready),
                before.eq(transaction),
            ]
            m.d.comb += Assume(~waited | (valid & (transaction == before)))
            # What the tracker has seen is not withdrawn; both sides see the same handshakes.
            self._gate_rules += [
                ~waits | (gate.o.valid & (Value.cast(gate.o.payload) == before)),
                (gate.o.valid & gate.o.ready) == (valid & gate.i.ready),
            ]
            taken.append(gate.o.valid & gate.o.ready)
        return taken

    def _is_taken(self, registers: Signal) -> Value:
        """Whether what is in force is what ``registers`` say."""
        launch = self._launch
        words = data.View(
            data.StructLayout({
                "bases": self.i_bases.shape(), "size_log2": 6, "capacity_log2": 6,
            }),
            registers,
        )  # fmt: skip
        return (
            (words.bases.data == launch.o_region.data_base)
            & (words.bases.metadata == launch.o_region.metadata_base)
            & (words.bases.report == launch.o_report_base)
            & (words.size_log2 == launch.o_region.size_log2)
            & (words.capacity_log2 == launch.o_report_capacity_log2)
        )

    def _is_legal(self) -> Value:
        """Whether region and ring in force obey the rules of ``Region.check`` and of the ring."""
        launch, params = self._launch, self._params
        region, bits = launch.o_region, params.address_bits
        size = (1 << region.size_log2)[: bits + 1]
        entries = size >> (params.granularity_bits + params.tag_bits)
        end = 1 << bits
        return (
            (region.size_log2 >= params.min_region_log2)
            & (region.size_log2 <= params.max_region_log2)
            & (region.data_base % (1 << params.min_region_log2) == 0)
            & ((region.data_base & (size - 1)) == 0)
            & (region.data_base + size <= end)
            & ((region.metadata_base & (params.segment_bytes - 1)) == 0)
            & (region.metadata_base + entries * ENTRY_BYTES <= end)
            & ((launch.o_report_base & 31) == 0)
            & (launch.o_report_base + (32 << launch.o_report_capacity_log2) <= end)
        )

    def _helps(self, inner: OpenComponent, is_quiet, clears, was_clearing) -> list[Value]:
        """What the induction needs beside: what each state of the machine means."""
        state = inner["fsm_state"]
        ready, drain, clear, start, wait = (state == number for number in range(5))
        return [
            state <= 4,
            ~(clear | start | wait) | is_quiet,
            clears[0] == start,
            ~clears[1] | wait,
            ~(ready | drain) | ~self.i_clearing,
            ~(drain | clear) | ~was_clearing,
            ~(clear | start | wait) | self._launch.o_launched,
        ]
