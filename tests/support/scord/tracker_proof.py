"""Harness for a proof on the tracker: what waits for a fence, what becomes of it, and which block
of its slot each packet is of."""

from __future__ import annotations

from amaranth.hdl import Array, Assume, Cat, Module, Mux, Signal, Value
from amaranth.lib import data
from amaranth.lib.wiring import In

from racetrap.golden_model.scord.packets import PacketKind, TransactionKind
from racetrap.golden_model.scord.params import ScordParams
from racetrap.rtl.common.layout import struct_layout
from racetrap.rtl.scord.granule_splitter import item_layout
from tests.support.formal.internals import OpenComponent
from tests.support.formal.proof import Case, Harness
from tests.support.planted_bugs import modules_with

_FILES = ("common/stream.py", "scord/granule_splitter.py", "scord/fence_hold.py")
_TRACKER = "scord/tracker.py"


class TrackerHarness(Harness):
    """A tracker behind an SM that keeps what it offers; its packets are taken at any time.

    A warp is told that its fence has arrived after its packet was taken, and once.

    Parameters
    ----------
    params : ScordParams
        Configuration.
    case : Case
        What is asked.
    """

    def __init__(self, params: ScordParams, case: Case):
        self._params = params
        self._tracker = modules_with([*_FILES, _TRACKER], case.bug)[_TRACKER].Tracker(params)
        super().__init__(case, {
            "i_valid": In(1), "i_ready": In(1), "i_enable": In(1), "i_clear": In(1),
            "i_transaction": In(struct_layout(params.transaction_layout)),
            "i_fenced": In(params.warps_per_sm),
        })  # fmt: skip

    def elaborate(self, platform):
        m = Module()
        params, dut, given = self._params, self._tracker, self.i_transaction
        self._inner = inner = OpenComponent(dut)
        m.submodules.tracker = inner.fragment
        kept = Cat(given[name] for name in ("kind", "scope", "warp", "slot"))
        waits, before = Signal(), Signal(len(kept))
        port = dut.i_transaction
        m.d.sync += [waits.eq(port.valid & ~port.ready), before.eq(kept)]
        m.d.comb += [
            port.valid.eq(self.i_valid),
            port.payload.eq(Value.cast(given)),
            dut.o_packet.ready.eq(self.i_ready),
            dut.i_enable.eq(self.i_enable),
            dut.i_clear.eq(self.i_clear),
            dut.i_fenced.eq(self.i_fenced),
            Assume(~waits | (self.i_valid & (kept == before))),
            Assume(given.kind <= TransactionKind.BLOCK_START),
            Assume(given.warp < params.warps_per_sm),
        ]
        taken = port.valid & port.ready & self.i_enable
        remaining = inner["splitter.remaining"]
        split, item = self._stages()
        rules: list[Value] = []
        helps = [
            (remaining <= 1) | (split.kind != TransactionKind.FENCE),
            ~remaining.any() | (split.kind <= TransactionKind.BLOCK_START),
            ~inner["lookup.o__valid"] | (item.kind <= TransactionKind.BLOCK_START),
        ]
        warps = [
            self._elaborate_warp(m, warp, taken, rules, helps)
            for warp in range(params.warps_per_sm)
        ]
        wraps = self._elaborate_generations(m, taken, rules, helps)
        events = {
            "another-warp-goes-on": taken & (given.kind == TransactionKind.LOAD)
            & (given.warp == 1) & warps[0],
            "all-warps-fence": Cat(warps).all(),
            "barrier-waits": port.valid & ~port.ready & warps[0] & ~dut.o_busy
            & (given.kind == TransactionKind.BARRIER),
            "barrier-of-another-block": taken & (given.kind == TransactionKind.BARRIER) & warps[0],
            "generation-wraps": wraps,
        }  # fmt: skip
        self.state(m, rules, events, helps)
        return m

    def _elaborate_warp(self, m: Module, warp: int, taken, rules: list, helps: list) -> Value:
        """Rules of one warp's fences; whether one is on its way."""
        dut, given, told = self._tracker, self.i_transaction, self.i_fenced[warp]
        on_way, queued, scope = (
            Signal(name=f"{name}_{warp}") for name in ("on_way", "queued", "scope")
        )
        slot = Signal.like(given.slot, name=f"slot_of_{warp}")
        packet, is_mine = dut.o_packet.payload, given.warp == warp
        sent = Signal(name=f"sent_{warp}")
        comes_out = Signal(name=f"comes_out_{warp}")
        m.d.comb += [
            sent.eq(taken & is_mine & (given.kind == TransactionKind.FENCE)),
            comes_out.eq(
                dut.o_packet.valid & (packet.kind == PacketKind.FENCE) & (packet.warp == warp)
            ),
            Assume(~told | (on_way & ~queued)),
        ]
        m.d.sync += [
            on_way.eq(Mux(on_way, ~told, sent)),
            queued.eq(Mux(queued, ~(comes_out & self.i_ready), sent)),
        ]
        with m.If(sent):
            m.d.sync += [scope.eq(given.scope), slot.eq(given.slot)]
        of_warp = is_mine & (given.kind <= TransactionKind.FENCE)
        of_block = (given.kind == TransactionKind.BARRIER) & (given.slot == slot)
        rules += [
            ~(taken & (of_warp | of_block)) | ~on_way,
            dut.o_fencing[warp] == on_way,
            ~comes_out | (queued & (packet.scope == scope)),
            ~dut.o_idle | ~on_way,
        ]
        helps += [
            ~queued | on_way,
            ~on_way | (self._inner[f"fence_hold.slot_{warp}"] == slot),
            *self._places(warp, queued, comes_out, scope),
        ]
        return on_way

    def _elaborate_generations(self, m: Module, taken, rules: list, helps: list) -> Value:
        """A packet has as its generation the starts of blocks before it; whether one wraps."""
        params, inner, given = self._params, self._inner, self.i_transaction
        split, item = self._stages()
        starts = Array(
            Signal(params.slot_generation_bits, name=f"starts_{slot}")
            for slot in range(params.blocks_per_sm)
        )
        at_split, at_item, at_packet = (
            Signal.like(starts[0], name=f"generation_at_{stage}")
            for stage in ("split", "item", "packet")
        )
        is_start = TransactionKind.BLOCK_START
        warps = Cat(given.mask, given.lock_mask)[: params.warps_per_sm]
        counts = taken & (given.kind == is_start) & warps.any()
        in_split, in_item = inner["splitter.remaining"].any(), inner["lookup.o__valid"]
        with m.If(taken):
            m.d.sync += at_split.eq(starts[given.slot])
        with m.If(inner["splitter.o__valid"] & inner["lookup.i__ready"]):
            m.d.sync += at_item.eq(at_split)
        with m.If(in_item & inner["has_packet"] & inner["packet.i__ready"]):
            m.d.sync += at_packet.eq(at_item)
        with m.If(counts):
            m.d.sync += starts[given.slot].eq(starts[given.slot] + 1)
        with m.If(inner["start"]):
            m.d.sync += [each.eq(0) for each in starts]
        packet = self._tracker.o_packet
        is_access = packet.payload.kind != PacketKind.FENCE
        rules += [
            ~(packet.valid & is_access) | (packet.payload.generation == at_packet),
            ~packet.valid | is_access | (packet.payload.generation == 0),
        ]
        split_starts = in_split & (split.kind == is_start)
        item_starts = in_item & (item.kind == is_start)
        counted = Array(inner[f"generations.generation_{slot}"] for slot in range(len(starts)))
        waiting = [
            (split_starts & (split.slot == slot))
            + (item_starts & item.is_last & (item.slot == slot))
            for slot in range(len(starts))
        ]
        helps += [
            *(
                (known + late)[: len(known)] == start
                for known, late, start in zip(counted, waiting, starts, strict=True)
            ),
            # Nothing was taken since the transaction that is being split.
            ~in_split | split_starts | (at_split == starts[split.slot]),
            ~in_item | item_starts | (at_item == counted[item.slot]),
            # The rest of a start is behind all of its items but the last.
            ~item_starts | item.is_last | (split_starts & (split.slot == item.slot)),
        ]
        return counts & starts[given.slot].all()

    def _stages(self) -> tuple[data.View, data.View]:
        """Transaction in the splitter, and item behind it."""
        layout = item_layout(self._params)
        split = struct_layout(self._params.transaction_layout)(self._inner["splitter.transaction"])
        return split, layout(self._inner["lookup.payload"][: layout.size])

    def _places(self, warp: int, queued, comes_out, scope) -> list[Value]:
        """Where a fence is that was taken and has not come out."""
        split, item = self._stages()
        in_splitter, in_lookup = (
            valid & (holds.kind == TransactionKind.FENCE) & (holds.warp == warp)
            for valid, holds in (
                (self._inner["splitter.remaining"].any(), split),
                (self._inner["lookup.o__valid"], item),
            )
        )
        return [
            in_splitter + in_lookup + comes_out == queued,
            ~in_splitter | (split.scope == scope),
            ~in_lookup | (item.scope == scope),
        ]
