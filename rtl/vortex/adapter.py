"""Adapter: from what a Vortex core issues to the instructions that a front end takes.

Ref: Vortex 3.0, VX_operands; ScoRD (ISCA'20) Section IV, Fig. 6.
"""

from __future__ import annotations

from typing import Any

from amaranth.hdl import Array, Cat, Module, Mux, Signal, Value
from amaranth.lib import data, stream, wiring
from amaranth.lib.wiring import In, Out

from racetrap.golden_model.events import AtomicOp, Scope
from racetrap.golden_model.gpu.issue import IssueKind
from racetrap.golden_model.gpu.params import GpuParams
from racetrap.golden_model.vortex.adapter import (
    AdapterError,
    check_params,
)
from racetrap.golden_model.vortex.issue_decoder import (
    ISSUE_LAYOUT,
    LANES,
    SLOTS,
    WARPS,
    Action,
)
from racetrap.rtl.common.layout import struct_layout
from racetrap.rtl.common.stream import StreamFifo
from racetrap.rtl.vortex.issue_decoder import ISSUED, IssueDecoder
from racetrap.rtl.vortex.window_access import WindowAccess

#: Instructions that wait, and from how many on the core should fetch no more: those that it has
#: fetched by then must find a place.
QUEUE_DEPTH, QUEUE_LIMIT = 64, 16
_KEY_BITS = 32

#: A word that is valid in some cycles and cannot wait.
ISSUE_PORT = wiring.Signature({"valid": Out(1), "payload": Out(struct_layout(ISSUE_LAYOUT))})
#: The same of a warp that begins; fields as of the golden ``Start``.
_START = data.StructLayout({"warp": 2, "slot": 2, "rank": 2, "warps": 3, "lanes": LANES})
START_PORT = wiring.Signature({"valid": Out(1), "payload": Out(_START)})
#: A load from LOCK that memory has performed, and whether it has found 0.
FOUND = data.StructLayout({"warp": 2, "is_free": 1})


class Adapter(wiring.Component):
    """Adapter of one core, in front of a front end.

    What is issued waits in a queue, since the core cannot; ``o_full`` asks it to fetch no more.
    The start of a block and an instruction of another warp in the same cycle become one after the
    other.  An instruction takes two cycles through the queue, then one for each instruction that it
    becomes, and one for each window of its lanes that is not monitored.

    A request of the core's to memory may be performed when ``golden_model``'s ``may_pass`` says so
    of its number and the key of its warp in ``o_passed``, and the front end does not hold the warp.

    Parameters
    ----------
    params : GpuParams
        Configuration, of the size of a core.

    Members
    -------
    i_issue : ``In(ISSUE_PORT)``
        Each instruction that the core issues.
    i_start : ``In(START_PORT)``
        Each warp that begins.
    o_instruction : ``Out(stream.Signature(instruction_layout))``
        Instructions for the front end.
    i_found : ``In(stream.Signature(FOUND))``
        What each load from LOCK has found.
    o_outcome : ``Out(stream.Signature(outcome_layout))``
        The same for the front end.
    o_passed : ``Out(ArrayLayout(32, 4))``
        Of each warp, the key of its last load, store or fence that the front end has taken.
    o_full : ``Out(1)``
        The core must fetch no more.
    o_idle : ``Out(1)``
        Nothing waits.
    o_error, o_error_pc : ``Out(AdapterError)``, ``Out(32)``
        The first thing that could not be done, until reset; the instruction that asked for it.

    Raises
    ------
    ValueError
        If the configuration is of another size.
    """

    def __init__(self, params: GpuParams):
        check_params(params)
        self._params = params
        super().__init__({
            "i_issue": In(ISSUE_PORT),
            "i_start": In(START_PORT),
            "o_instruction": Out(stream.Signature(struct_layout(params.instruction_layout))),
            "i_found": In(stream.Signature(FOUND)),
            "o_outcome": Out(stream.Signature(struct_layout(params.outcome_layout))),
            "o_passed": Out(data.ArrayLayout(_KEY_BITS, WARPS)),
            "o_full": Out(1),
            "o_idle": Out(1),
            "o_error": Out(AdapterError),
            "o_error_pc": Out(_KEY_BITS),
        })  # fmt: skip

    def elaborate(self, platform):
        m = Module()
        entry = data.StructLayout({
            "begins": 1, "start": _START, "issues": 1, "issued": ISSUED,
        })  # fmt: skip
        m.submodules.decoder = decoder = IssueDecoder()
        m.submodules.queue = queue = StreamFifo(entry, QUEUE_DEPTH)
        level = Signal(range(QUEUE_DEPTH + 2), name="level")
        begins = self.i_start.valid & (self.i_start.payload.rank == 0)
        pushed, popped = Signal(name="pushed"), Signal(name="popped")
        m.d.comb += [
            decoder.i.eq(self.i_issue.payload),
            queue.i.payload.begins.eq(begins),
            queue.i.payload.start.eq(self.i_start.payload),
            queue.i.payload.issues.eq(self.i_issue.valid & decoder.o_concerns),
            queue.i.payload.issued.eq(decoder.o),
            queue.i.valid.eq(queue.i.payload.begins | queue.i.payload.issues),
            pushed.eq(queue.i.valid & queue.i.ready),
            popped.eq(queue.o.valid & queue.o.ready),
            self.o_full.eq(level >= QUEUE_LIMIT),
            self.o_idle.eq(queue.o_empty),
        ]
        m.d.sync += level.eq(level + pushed - popped)
        unsupported = self._elaborate_steps(m, queue)
        self._elaborate_outcomes(m)
        self._elaborate_errors(m, queue, unsupported)
        return m

    def _elaborate_steps(self, m: Module, queue: Any) -> Value:
        """Take the head of the queue apart; whether it asks for what is not supported."""
        head, issued = queue.o.payload, queue.o.payload.issued
        has_begun, has_ended = Signal(name="has_begun"), Signal(name="has_ended")
        done = Signal(LANES, name="done")
        m.submodules.access = access = WindowAccess(self._params)
        left, group = access.i_left, access.o_group
        living = Array(Signal(range(WARPS + 1), name=f"living_{slot}") for slot in range(SLOTS))
        out, steps = self.o_instruction, Signal(name="steps")
        emits, is_last, unsupported = (
            Signal(name=name) for name in ("emits", "is_last", "unsupported")
        )
        is_access = (issued.action == Action.LOAD) | (issued.action == Action.STORE)
        m.d.comb += [
            access.i.eq(issued),
            left.eq(issued.lanes & ~done),
            out.valid.eq(queue.o.valid & emits),
            steps.eq(queue.o.valid & (out.ready | ~emits)),
            queue.o.ready.eq(steps & is_last),
        ]
        with m.If(head.begins & ~has_begun):
            m.d.comb += [emits.eq(1), is_last.eq(~head.issues)]
            self._start(m, head.start)
            with m.If(steps):
                m.d.sync += [has_begun.eq(1), living[head.start.slot].eq(head.start.warps)]
        with m.Elif(is_access):
            m.d.comb += [
                emits.eq(access.o_is_monitored), is_last.eq(group == left),
                unsupported.eq(queue.o.valid & access.o_is_unsupported),
                out.payload.eq(access.o),
            ]  # fmt: skip
            with m.If(steps):
                m.d.sync += done.eq(done | group)
        with m.Else():
            is_end = issued.action == Action.END
            ends_block = living[issued.slot] == Mux(has_ended, 0, 1)
            m.d.comb += [
                emits.eq(issued.action != Action.UNSUPPORTED),
                is_last.eq(~is_end | has_ended | ~ends_block),
                unsupported.eq(queue.o.valid & (issued.action == Action.UNSUPPORTED)),
            ]
            self._other(m, issued, has_ended)
            with m.If(steps & is_end):
                m.d.sync += has_ended.eq(1)
                with m.If(~has_ended):
                    m.d.sync += living[issued.slot].eq(living[issued.slot] - 1)
        with m.If(queue.o.ready):
            m.d.sync += [has_begun.eq(0), has_ended.eq(0), done.eq(0)]
            with m.If(head.issues & (is_access | (issued.action == Action.FENCE))):
                key = Cat(issued.uuid[24:32], issued.uuid[:24])
                m.d.sync += self.o_passed[issued.warp].eq(key)
        return unsupported

    def _start(self, m: Module, start: data.View) -> None:
        out, count = self.o_instruction.payload, start.warps
        m.d.comb += [
            out.kind.eq(IssueKind.BLOCK_START), out.slot.eq(start.slot), out.warp.eq(start.warp),
            out.warps.eq(((1 << count) - 1)[:WARPS] << start.warp), out.lanes.eq(~0),
        ]  # fmt: skip

    def _other(self, m: Module, issued: data.View, has_ended: Value) -> None:
        out = self.o_instruction.payload
        m.d.comb += [out.slot.eq(issued.slot), out.warp.eq(issued.warp), out.pc.eq(issued.pc)]
        with m.Switch(issued.action):
            with m.Case(Action.FENCE, Action.WSYNC):
                is_device = issued.action == Action.FENCE
                m.d.comb += [
                    out.kind.eq(IssueKind.FENCE),
                    out.scope.eq(Mux(is_device, Scope.DEVICE, Scope.BLOCK)),
                ]
            with m.Case(Action.BARRIER, Action.ARRIVE):
                waits = issued.action == Action.BARRIER
                m.d.comb += [
                    out.kind.eq(Mux(waits, IssueKind.BARRIER, IssueKind.ARRIVE)),
                    out.number.eq(issued.number), out.warps.eq(issued.warps),
                    out.lanes.eq(issued.lanes),
                ]  # fmt: skip
            with m.Case(Action.END):
                m.d.comb += [out.kind.eq(IssueKind.EXIT), out.lanes.eq(~0)]
                with m.If(has_ended):
                    m.d.comb += [
                        out.kind.eq(IssueKind.BLOCK_END), out.warp.eq(0), out.pc.eq(0),
                        out.lanes.eq(0),
                    ]  # fmt: skip

    def _elaborate_outcomes(self, m: Module) -> None:
        """Name the lane of each load from LOCK in its outcome."""
        taken, found = self.o_instruction, self.i_found
        item = taken.payload
        loader = Array(Signal(LANES, name=f"loader_{warp}") for warp in range(WARPS))
        is_cas = (item.kind == IssueKind.ATOMIC) & (item.op == AtomicOp.CAS)
        with m.If(taken.valid & taken.ready & is_cas):
            m.d.sync += loader[item.warp].eq(item.lanes)
        m.d.comb += [
            self.o_outcome.valid.eq(found.valid), found.ready.eq(self.o_outcome.ready),
            self.o_outcome.payload.warp.eq(found.payload.warp),
            self.o_outcome.payload.success.eq(
                Mux(found.payload.is_free, loader[found.payload.warp], 0)
            ),
        ]  # fmt: skip

    def _elaborate_errors(self, m: Module, queue: Any, unsupported: Value) -> None:
        """Keep the first error; what is lost or scattered is seen before the queue."""
        start = self.i_start.payload
        first = Signal(2, name="first")
        due = Mux(start.rank == 0, start.warp, first) + start.rank
        last = start.warp + Mux(start.rank == 0, start.warps, 1)
        scattered = self.i_start.valid & ((start.warp != due) | (last > WARPS))
        lost = queue.i.valid & ~queue.i.ready
        with m.If(self.i_start.valid & (start.rank == 0)):
            m.d.sync += first.eq(start.warp)
        with m.If(self.o_error == AdapterError.NONE):
            with m.If(lost):
                m.d.sync += self.o_error.eq(AdapterError.LOST)
            with m.Elif(scattered):
                m.d.sync += self.o_error.eq(AdapterError.SCATTERED)
            with m.Elif(unsupported):
                m.d.sync += [
                    self.o_error.eq(AdapterError.UNSUPPORTED),
                    self.o_error_pc.eq(queue.o.payload.issued.pc),
                ]
