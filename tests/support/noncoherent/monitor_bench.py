"""The bus monitor in Amaranth's simulator, with bugs planted in its sources if wanted."""

from __future__ import annotations

from collections.abc import Sequence
from types import ModuleType

from amaranth.hdl import Module, Value
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out

from racetrap.golden_model.noncoherent.packets import BusOperation, rows_of
from racetrap.golden_model.noncoherent.params import NoncoherentParams
from racetrap.rtl.common.layout import struct_layout
from racetrap.rtl.noncoherent.layouts import trace_signature
from racetrap.sim.cosim.verilator.patch import Patch
from tests.support import planted_bugs
from tests.support.rtl.streams import Idle, never_idle, put_all, shared, simulate

#: Files in which bugs are planted, each after those that it uses.
_FILES = (
    "range_comparator", "compactor", "interval_cam", "bitmap", "row_splitter", "row_ring",
    "monitor",
)  # fmt: skip
#: Cycles without a step after which the hardware has lost one.
_SILENCE = 200
#: Changes only what a monitor beside a write-through cache does.
WRITE_THROUGH_BUG = "write-through-widens-to-lines"
PLANTED_BUGS = {
    # Row splitter
    "splitter-takes-a-row-less": Patch(
        "noncoherent/row_splitter.py", "(operation.rows <= 1)", "(operation.rows <= 2)"
    ),
    "splitter-steps-by-the-size": Patch(
        "noncoherent/row_splitter.py",
        "operation.address + operation.stride",
        "operation.address + operation.size",
    ),
    "splitter-lets-a-range-of-no-bytes-through": Patch(
        "noncoherent/row_splitter.py", "(self.i.valid & ~is_empty)", "(self.i.valid)"
    ),
    # Interval CAM
    "neighbours-do-not-merge": Patch(
        "noncoherent/interval_cam.py", "i_touch.eq(is_insert[0])", "i_touch.eq(0)"
    ),
    "removal-drops-instead-of-shrinking": Patch(
        "noncoherent/interval_cam.py",
        "change.is_remove, inside, 0)", "change.is_remove, self.o_overlap, 0)"
    ),
    "split-loses-its-upper-part": Patch(
        "noncoherent/interval_cam.py",
        "change.is_remove & (change.lower & change.upper).any()",
        "change.is_remove & 0",
    ),
    "hit-prefers-imprecise": Patch(
        "noncoherent/interval_cam.py", "Mux(precise.any(), precise, hits)", "hits"
    ),
    "merged-entry-forgets-other-origins": Patch(
        "noncoherent/interval_cam.py", "origin.others | (beside & differs).any()", "origin.others"
    ),
    "merged-entry-claims-to-be-precise": Patch(
        "noncoherent/interval_cam.py",
        "origin.imprecise | (beside & imprecise).any()",
        "origin.imprecise",
    ),
    # Range comparator
    "comparison-misses-what-is-new": Patch(
        "noncoherent/interval_cam.py", "newest.eq(new)", "newest.eq(0)"
    ),
    "comparison-takes-the-range-before-for-the-one-ahead": Patch(
        "noncoherent/interval_cam.py",
        "ahead.eq(comparator.o_ranges[0])", "ahead.eq(comparator.o_ranges[1])"
    ),
    "comparison-sees-what-is-lost": Patch(
        "noncoherent/interval_cam.py", "flag[:-1] & ~self.i_drop.replicate(2)", "flag[:-1]"
    ),
    "comparison-misses-what-is-cut": Patch(
        "noncoherent/range_comparator.py", "(cuts & around.replicate(count))", "(cuts & old)"
    ),
    "comparison-takes-the-range-for-the-union": Patch(
        "noncoherent/range_comparator.py", "Cat(old & taken, whole & change.is_insert, around)",
        "Cat(whole & change.is_insert, around)",
    ),
    # Bitmap
    "bitmap-misses-the-range-just-ahead": Patch(
        "noncoherent/bitmap.py", "with m.If(write.en & (index == before)):", "with m.If(Const(0)):"
    ),
    "bitmap-misses-the-range-before-that": Patch(
        "noncoherent/bitmap.py",
        "with m.Elif(wrote & (wrote_index == before)):", "with m.Elif(Const(0)):"
    ),
    "bitmap-puts-a-word-in-and-no-more": Patch(
        "noncoherent/bitmap.py",
        "does & step.meets & ~is_last", "does & step.meets & ~is_last & step.query"
    ),
    "bitmap-leaves-the-last-granule-out": Patch(
        "noncoherent/bitmap.py", "(high[:_PLACE_BITS], place,", "(high[:_PLACE_BITS], place + 1,"
    ),
    "bitmap-forgets-other-origins": Patch(
        "noncoherent/bitmap.py", "has_own & (word.others | (word.tag != step.tag))", "Const(0)"
    ),
    "bitmap-forgets-outside-with-any-flush": Patch(
        "noncoherent/bitmap.py", "step.is_remove & step.is_all", "step.is_remove & step.leaves"
    ),
    "bitmap-takes-outside-for-inside": Patch(
        "noncoherent/bitmap.py", "is_outside.eq(asks & ~step.is_rest & step.leaves & outside.held)",
        "is_outside.eq(0)",
    ),
    # Compactor
    "gap-is-not-the-smallest": Patch(
        "noncoherent/compactor.py", "(gap[:-1] < best)", "(gap[:-1] != best)"
    ),
    # Row ring
    "row-behind-a-second-look-is-lost": Patch(
        "noncoherent/row_ring.py", "m.d.sync += first.eq(last)", "m.d.sync += first.eq(places[1])"
    ),
    # Monitor
    "sync-leaves-reads": Patch(
        "noncoherent/monitor.py",
        "for cam in cams:\n                with m.If(is_meant):",
        "for cam in cams[:1]:\n                with m.If(is_meant):",
    ),
    "own-engine-races": Patch(
        "noncoherent/monitor.py", "cam.i_query.eq(self._row.engine != engine)", "cam.i_query.eq(1)"
    ),
    "invalidation-forgets-lost-data": Patch(
        "noncoherent/monitor.py",
        "self._row.kind.matches(*_INVALIDATES)", "self._row.kind.matches(*_CLEANS)"
    ),
    "row-compared-before-a-merge-is-not-compared-again": Patch(
        "noncoherent/monitor.py", "(early.any() | ~ready)", "(early[0] | ~ready)"
    ),
    "write-back-of-one-neighbour": Patch(
        "noncoherent/monitor.py", "(\"LEFT\", \"RIGHT\", granules.first, bytes_.first)",
        "(\"LEFT\", \"REMOVE\", granules.first, bytes_.first)",
    ),
    "stale-bytes-are-not-cut": Patch(
        "noncoherent/monitor.py",
        "with m.If(entry.end > bounds.end):", "with m.If(entry.end < bounds.first):"
    ),
    WRITE_THROUGH_BUG: Patch(
        "noncoherent/monitor.py",
        "(self._granules, self._params.memory.write_unit)",
        "(self._granules, self._params.line_bytes)",
    ),
    "later-hit-wins": Patch(
        "noncoherent/monitor.py",
        "keeps = one[1] | (one[0] & ~other[1])", "keeps = one[0] & ~other[0]"
    ),
}  # fmt: skip


def modules_with(bug: Patch | None) -> dict[str, ModuleType]:
    """The modules of the monitor by name, made anew with the bug in."""
    modules = planted_bugs.modules_with([f"noncoherent/{name}.py" for name in _FILES], bug)
    return dict(zip(_FILES, modules.values(), strict=True))


class _Chain(wiring.Component):
    """Row splitter and monitor."""

    def __init__(self, params: NoncoherentParams, bug: Patch | None):
        modules = modules_with(bug)
        self._splitter = modules["row_splitter"].RowSplitter(params)
        self._monitor = modules["monitor"].Monitor(params)
        super().__init__(
            {
                "i": In(stream.Signature(struct_layout(params.operation_layout))),
                "trace": Out(trace_signature(params)),
            }
        )

    def elaborate(self, platform):
        m = Module()
        m.submodules.splitter, m.submodules.monitor = self._splitter, self._monitor
        wiring.connect(m, wiring.flipped(self.i), self._splitter.i)
        wiring.connect(m, self._splitter.o, self._monitor.i)
        wiring.connect(m, self._monitor.trace, wiring.flipped(self.trace))
        m.d.comb += self._monitor.i_enable.eq(1)
        return m


def steps_of(
    params: NoncoherentParams, operations: Sequence[BusOperation], bug: Patch | None = None,
    *, idle: Idle = never_idle,
) -> list[int]:  # fmt: skip
    """Steps of the hardware as packed words, until all have come or no more comes."""
    dut = shared(_Chain, params, bug)
    due = sum(1 for operation in operations for _ in rows_of(params, operation))
    sent = [params.operation_layout.pack(operation._asdict()) for operation in operations]
    steps: list[int] = []

    async def watch(ctx):
        silence = 0
        while len(steps) < due and silence < _SILENCE:
            *_, valid, payload = await ctx.tick().sample(
                dut.trace.valid, Value.cast(dut.trace.payload)
            )
            silence = 0 if valid else silence + 1
            if valid:
                steps.append(payload)

    simulate(dut, watch, background=[put_all(dut.i, sent, idle=idle)])
    return steps
