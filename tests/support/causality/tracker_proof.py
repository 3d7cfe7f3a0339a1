"""Harness for a proof on the tracker: what waits for a resume, and how clocks grow."""

from __future__ import annotations

from amaranth.hdl import Array, Assume, Module, Mux, Signal, Value
from amaranth.lib.wiring import In

from racetrap.golden_model.causality.packets import (
    HELD,
    PacketKind,
    ResumeKind,
    TransactionKind,
)
from racetrap.golden_model.causality.params import CausalityParams
from racetrap.rtl.common.layout import struct_layout
from tests.support.causality.settling_proof import keeps
from tests.support.formal.internals import OpenComponent, OpenMemory
from tests.support.formal.proof import Case, Harness
from tests.support.planted_bugs import modules_with

STATES, TRACKER = "causality/warp_states.py", "causality/tracker.py"


class TrackerHarness(Harness):
    """A tracker behind an SM that keeps what it offers; its outputs are taken at any time.

    Resumes come behind the marker that they answer, with a clock that is not below the warp's, and
    not from when it was told to hold until an epoch begins.  That begins while it waits.

    Parameters
    ----------
    params : CausalityParams
        Configuration; two warps.
    case : Case
        What is asked.
    """

    def __init__(self, params: CausalityParams, case: Case):
        self._params = params
        modules = modules_with(["common/stream.py", STATES, TRACKER], case.bug)
        modules[STATES].Memory = OpenMemory
        self._state = modules[STATES].state_layout(params)
        self._tracker = modules[TRACKER].Tracker(params)
        ports = self._tracker.signature.members
        super().__init__(case, {
            "i_valid": In(1), "i_transaction": In(struct_layout(params.transaction_layout)),
            "i_packet_ready": In(1), "i_marker_ready": In(1), "i_resumes": In(1),
            "i_resume": In(struct_layout(params.resume_layout)),
            **{name: ports[name]
               for name in ("i_enable", "i_clear")},
        })  # fmt: skip

    def elaborate(self, platform):
        m = Module()
        dut, params = self._tracker, self._params
        self._inner = inner = OpenComponent(dut)
        m.submodules.tracker = inner.fragment
        given, resume = self.i_transaction, dut.i_resume
        m.d.comb += [
            dut.i_transaction.valid.eq(self.i_valid), dut.i_transaction.payload.eq(given),
            dut.o_packet.ready.eq(self.i_packet_ready), dut.o_marker.ready.eq(self.i_marker_ready),
            resume.valid.eq(self.i_resumes), resume.payload.eq(self.i_resume),
            *(getattr(dut, name).eq(getattr(self, name))
              for name in ("i_enable", "i_clear")),
            keeps(m, dut.i_transaction, "transaction"), keeps(m, resume, "resume"),
            Assume(given.kind <= TransactionKind.WARP_BARRIER),
            Assume(given.warp < params.warps_per_sm),
            Assume((given.kind != TransactionKind.BLOCK_START) | given.warps[:2].any()),
            Assume(self.i_resume.warp < params.warps_per_sm),
        ]  # fmt: skip
        clears = Signal()
        m.d.sync += clears.eq((clears | self.i_clear) & (self.i_clear | dut.o_busy))
        m.d.comb += [
            Assume(~self.i_clear | (dut.o_idle & ~resume.valid & ~self.i_valid)),
            Assume(~(dut.o_busy & clears) | ~(self.i_valid | resume.valid)),
        ]
        rules, helps = self._elaborate_waits(m)
        more_rules, more_helps = self._elaborate_clocks(m)
        packet = dut.o_packet
        events = {
            "resumed": self._resumed & (packet.payload.kind == PacketKind.LOAD) & packet.valid,
            "two-resumes": self._waiting & self._again & resume.valid,
            "waits-for-an-epoch": self._is_held & ~packet.valid & inner["holds"],
            "epoch-before-an-answer": self._epoch & ~self._is_held,
            "behind-an-epoch": self._restarted & packet.valid
            & (packet.payload.kind == PacketKind.WARP_BARRIER),
            "starts-behind-another-block": self._starts,
        }  # fmt: skip
        self.state(m, [*rules, *more_rules], events, [*helps, *more_helps])
        return m

    def _elaborate_waits(self, m: Module) -> tuple[list[Value], list[Value]]:
        """From a marker that is answered to its last resume nothing else leaves."""
        dut, inner = self._tracker, self._inner
        packet, marker, resume = dut.o_packet, dut.o_marker, dut.i_resume
        waiting, has_packet, has_marker, kind = (
            Signal(name="waiting"), Signal(name="has_packet"), Signal(name="has_marker"),
            Signal(4, name="kind"),
        )  # fmt: skip
        is_mark = packet.valid & (packet.payload.kind == PacketKind.MARK)
        is_answered = marker.valid & (
            (marker.payload.kind < TransactionKind.IF) | (marker.payload.kind == HELD)
        )
        takes, of_warp = resume.valid & resume.ready, resume.payload.kind == ResumeKind.WARP
        is_held, stopped, epoch = kind == HELD, Signal(name="stopped"), Signal(name="epoch")
        goes_on = Mux(epoch, is_held, takes & of_warp & resume.payload.is_last)
        m.d.comb += epoch.eq(takes & (resume.payload.kind == ResumeKind.EPOCH))
        holds_now = takes & (resume.payload.kind == ResumeKind.HOLD)
        m.d.sync += stopped.eq((stopped | holds_now) & ~epoch)
        self._epoch, self._is_held = epoch, is_held & has_marker
        told, answered = Signal(), Signal()
        # What a SM sends when it is resumed comes after the packet and the marker were taken.
        m.d.comb += [
            told.eq(is_mark & packet.ready), answered.eq(is_answered & marker.ready),
            Assume(~(resume.valid & of_warp)
                   | (waiting & has_packet & has_marker & ~stopped & ~is_held)),
            Assume(~(resume.valid & (resume.payload.kind == ResumeKind.EPOCH))
                   | (waiting & has_packet & has_marker)),
        ]  # fmt: skip
        m.d.sync += [
            waiting.eq((waiting | told | answered) & ~goes_on),
            has_packet.eq((has_packet | told) & ~goes_on),
            has_marker.eq((has_marker | answered) & ~goes_on),
        ]
        with m.If(answered):
            m.d.sync += kind.eq(marker.payload.kind)
        resumed, again = Signal(), Signal()
        m.d.sync += [
            resumed.eq(resumed | goes_on), again.eq(resume.valid & resume.ready & ~goes_on),
        ]  # fmt: skip
        self._resumed, self._waiting, self._again = resumed, waiting, again
        self._told = has_marker
        transaction = struct_layout(self._params.transaction_layout)(inner["transaction"])
        waits, has_both = inner["waits"], has_packet & has_marker
        stops = waits | inner["is_held"]
        held_kind = transaction.kind
        is_waited = (held_kind > TransactionKind.ATOMIC) & (held_kind < TransactionKind.IF)
        rules = [
            # One packet and one marker for each that is answered, and nothing else before.
            ~(packet.valid & has_packet),
            ~(marker.valid & has_marker),
            ~(has_marker & packet.valid) | (is_mark & ~has_packet),
            ~(has_packet & marker.valid) | (is_answered & ~has_marker),
            has_packet | ~(has_marker | is_answered) | is_mark,
            has_marker | ~(has_packet | is_mark) | is_answered,
            ~(is_mark & is_answered)
            | ((packet.payload.warp == marker.payload.warp)
               & (packet.payload.block == marker.payload.block)),
            ~dut.o_idle | ~waiting,
            ~(resume.valid & of_warp) | waits,
            # Told to hold, it sends nothing more.
            ~(stopped & inner["leaves"]),
        ]  # fmt: skip
        helps = [
            stops == (is_mark | is_answered | waiting),
            ~(waits & inner["is_held"]), inner["is_stopped"] == stopped,
            ~waits | (inner["holds"] & is_waited),
            ~stops | (is_mark ^ has_packet), ~stops | (is_answered ^ has_marker),
            waiting == (has_packet | has_marker),
            ~has_both | stops,
            ~(is_answered & waits) | (marker.payload.kind == held_kind),
            ~(is_answered & inner["is_held"]) | (marker.payload.kind == HELD),
            ~has_marker | (is_held == inner["is_held"]),
            ~(is_answered & waits)
            | (marker.payload.warp[: self._params.warp_bits] == transaction.warp),
            ~inner["holds"] | (held_kind <= TransactionKind.WARP_BARRIER),
            transaction.warp < self._params.warps_per_sm,
            ~packet.valid | (packet.payload.warp[: self._params.warp_bits]
                             < self._params.warps_per_sm),
        ]  # fmt: skip
        return rules, helps

    def _elaborate_clocks(self, m: Module) -> tuple[list[Value], list[Value]]:
        """A warp's clock never falls; branches, warp barriers and new blocks raise it."""
        dut, inner, params = self._tracker, self._inner, self._params
        packet, marker, resume = dut.o_packet, dut.o_marker, dut.i_resume
        rows = [
            self._state(inner[f"warps.memory.row_{warp}"]).clock
            for warp in range(params.warps_per_sm)
        ]
        low = [Signal(params.clock_bits, name=f"low_{warp}") for warp in range(len(rows))]
        restarts = self._epoch | self.i_clear
        warp = packet.payload.warp[: params.warp_bits]
        clock, kind = packet.payload.clock, packet.payload.kind
        is_block = (marker.payload.kind == TransactionKind.BLOCK_START) | (
            marker.payload.kind == TransactionKind.BLOCK_END
        )
        of_block, starts = (
            Signal(),
            marker.valid & (marker.payload.kind == TransactionKind.BLOCK_START),
        )
        # Warps of the last block of each slot.
        last = [Signal(len(rows), name=f"last_{slot}") for slot in range(params.blocks_per_sm)]
        slot = marker.payload.block[: params.slot_bits]
        with m.If(marker.valid & marker.ready):
            m.d.sync += of_block.eq(is_block)
            with m.If(starts):
                m.d.sync += Array(last)[slot].eq(marker.payload.warps)
        with m.Elif(self.i_clear):
            m.d.sync += [each.eq(0) for each in last]
        of_warp = resume.payload.kind == ResumeKind.WARP
        resumes = resume.valid & resume.ready & of_warp & ~of_block
        rises = (kind == PacketKind.IF) | (kind == PacketKind.WARP_BARRIER)
        is_mark = kind == PacketKind.MARK
        for number, known in enumerate(low):
            with m.If(restarts):
                m.d.sync += known.eq(0)
            with m.Elif(resumes & (resume.payload.warp == number)):
                m.d.sync += known.eq(resume.payload.clock)
            with m.Elif(packet.valid & packet.ready & ~is_mark & (warp == number)):
                m.d.sync += known.eq(clock)
        m.d.comb += Assume(
            ~(resume.valid & of_warp) | of_block
            | (resume.payload.clock >= Array(rows)[resume.payload.warp[: params.warp_bits]])
        )  # fmt: skip
        mine = Array(low)[warp]
        takes_new = marker.payload.warps[: len(rows)]
        takes = takes_new | Array(last)[slot]
        transaction = struct_layout(params.transaction_layout)(inner["transaction"])
        restarted, starts_behind = Signal(), Signal()
        m.d.sync += restarted.eq(restarted | self._epoch)
        m.d.comb += starts_behind.eq(starts & (low[0] > 1) & ~marker.payload.warps[0] & takes[0])
        self._restarted, self._starts = restarted, starts_behind
        rules = [
            ~packet.valid | is_mark | (clock >= mine),
            ~(packet.valid & rises) | (clock > mine),
            # A block's first clock is beyond those of its warp slots and of the block before.
            *(~(starts & takes[number]) | (marker.payload.clock > known)
              for number, known in enumerate(low)),
            # Clocks cannot wrap.
            *(~(inner["leaves"] & (transaction.kind > TransactionKind.ATOMIC))
              | (row < params.last_clock) for row in rows),
        ]  # fmt: skip
        return rules, [
            *(inner["warps.o_full"] | (row < params.last_clock) | dut.o_busy for row in rows),
            *(known <= row for known, row in zip(low, rows, strict=True)),
            ~packet.valid | is_mark | (clock == Array(rows)[warp]),
            *self._starting(rows, of_block),
            *(
                Mux(starts & (slot == number), takes_new, each)
                == (
                    inner[f"start.before.row_{number}"]
                    & inner["start.had_block"][number].replicate(len(each))
                )
                for number, each in enumerate(last)
            ),
            ~starts | (slot == transaction.slot),
            *(
                ~dut.o_busy | ((known == 0) & ((row <= 1) | (inner["warps.place"] <= number)))
                for number, (known, row) in enumerate(zip(low, rows, strict=True))
            ),
            ~dut.o_busy | ~(packet.valid | marker.valid),
        ]

    def _starting(self, rows: list[Value], of_block: Value) -> list[Value]:
        """What is known of the first clock of a block while it is sought, and when it begins."""
        inner, params = self._inner, self._params
        transaction = struct_layout(params.transaction_layout)(inner["transaction"])
        state, latest, place, before = (
            inner[f"start.{name}"] for name in ("fsm_state", "latest", "place", "before")
        )
        searches, restarts, begins, found = (state == number for number in (1, 2, 3, 4))
        is_start = inner["holds"] & (transaction.kind == TransactionKind.BLOCK_START)
        is_block = is_start | (inner["holds"] & (transaction.kind == TransactionKind.BLOCK_END))
        is_looking = searches | found
        return [
            *(~restarts | self._tracker.o_busy | (row <= 1) for row in rows),
            ~restarts | ((latest == 1) & (place == 0) & is_start & inner["waits"]),
            *(
                ~(((searches & (place > number)) | found) & is_start & before[number])
                | (latest >= row) | ~inner["i_search"]
                for number, row in enumerate(rows)
            ),
            ~is_looking | inner["warps.o_full"] | (latest < params.last_clock)
            | ~inner["i_search"],
            ~begins | (latest < params.last_clock),
            *(
                ~(begins & transaction.warps[number] & (place <= number)) | (row <= latest)
                for number, row in enumerate(rows)
            ),
            ~begins | (is_start & inner["waits"]),
            ~(inner["waits"] & self._told) | (of_block == is_block),
        ]  # fmt: skip
