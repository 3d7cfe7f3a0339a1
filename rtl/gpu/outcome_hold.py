"""Outcome hold: each CAS waits until its outcome is known, and its warp with it.

Ref: ScoRD (ISCA'20) Section IV-A (a CAS that succeeds takes a lock).
"""

from __future__ import annotations

from typing import Any

from amaranth.hdl import Array, Cat, Module, Mux, Signal, Value
from amaranth.lib import data, stream, wiring
from amaranth.lib.memory import Memory
from amaranth.lib.wiring import In, Out

from racetrap.golden_model.events import AtomicOp
from racetrap.golden_model.gpu.issue import OF_BLOCK, IssueKind
from racetrap.golden_model.gpu.params import GpuParams
from racetrap.golden_model.layout import Layout
from racetrap.rtl.common.bits import lowest_one_hot, one_hot_number
from racetrap.rtl.common.layout import struct_layout


def operation_layout(params: GpuParams) -> data.StructLayout:
    """An instruction with its outcome, which is 0 if it is no CAS."""
    fields = {**params.instruction_layout.fields, "success": params.lanes}
    return struct_layout(Layout(fields))


class OutcomeHold(wiring.Component):
    """Holds each CAS until its outcome arrives; everything else passes.

    A CAS takes a place and leaves two cycles after its outcome was taken at the earliest, before
    what is issued then.  Until it has left, nothing of its warp passes, nor the start or end of its
    block; what is issued behind waits as well, since the issue stream keeps its order.  An outcome
    waits for its CAS.  All else passes in the cycle in which it is taken.  ``ready`` of the issue
    stream depends on the instruction that is offered, no ``ready`` on a ``valid``.

    Parameters
    ----------
    params : GpuParams
        Configuration.

    Members
    -------
    i_instruction : ``In(stream.Signature(instruction_layout))``
        What is issued.
    i_outcome : ``In(stream.Signature(outcome_layout))``
        Outcomes, one for each CAS that is issued, of different warps in any order.
    o : ``Out(stream.Signature(operation_layout(params)))``
        Instructions with their outcomes.
    o_idle : ``Out(1)``
        No CAS is held.
    o_answered, o_warp : ``Out(1)``, ``Out(warp_bits)``
        The outcome of a CAS was taken, and it has not left; its warp.
    """

    def __init__(self, params: GpuParams):
        self._params = params
        super().__init__({
            "i_instruction": In(stream.Signature(struct_layout(params.instruction_layout))),
            "i_outcome": In(stream.Signature(struct_layout(params.outcome_layout))),
            "o": Out(stream.Signature(operation_layout(params))),
            "o_idle": Out(1),
            "o_answered": Out(1),
            "o_warp": Out(params.warp_bits),
        })  # fmt: skip

    def elaborate(self, platform):
        m = Module()
        count = self._params.outstanding_cas
        instruction, outcome = self.i_instruction.payload, self.i_outcome.payload
        taken, free, answered = (Signal(count, name=n) for n in ("taken", "free", "answered"))
        answers, waits, leads = (Signal(name=n) for n in ("answers", "waits", "leads"))
        place = Signal(range(max(count, 2)), name="place")
        success = Signal(self._params.lanes, name="success", reset_less=True)
        is_cas, is_blocked = Signal(name="is_cas"), Signal(name="is_blocked")
        # A memory of one word would have no address.
        memory = Memory(shape=instruction.shape(), depth=max(count, 2), init=[])
        m.submodules.memory = memory
        read, write = memory.read_port(), memory.write_port()

        owners = self._elaborate_owners(m, taken, write.en, free)
        m.d.comb += [
            is_cas.eq((instruction.kind == IssueKind.ATOMIC) & (instruction.op == AtomicOp.CAS)),
            is_blocked.eq(self._blocks(instruction, taken, owners)),
            free.eq(lowest_one_hot(~taken)),
            answered.eq(
                Cat(
                    held & (owner.warp == outcome.warp) & ~(answers & (place == number))
                    for number, (held, owner) in enumerate(zip(taken, owners, strict=True))
                )
            ),
            # What is offered stays so until it is taken.
            leads.eq(answers & ~waits),
            self.i_instruction.ready.eq(
                ~is_blocked & Mux(is_cas, free.any(), self.o.ready & ~leads)
            ),
            self.i_outcome.ready.eq(answered.any() & (~answers | (leads & self.o.ready))),
            self.o.valid.eq(leads | (self.i_instruction.valid & ~is_blocked & ~is_cas)),
            write.addr.eq(one_hot_number(free)),
            write.data.eq(instruction),
            write.en.eq(self.i_instruction.valid & self.i_instruction.ready & is_cas),
            read.addr.eq(one_hot_number(answered)),
            read.en.eq(self.i_outcome.valid & self.i_outcome.ready),
            self.o.payload.eq(
                Mux(leads, Cat(Value.cast(read.data), success), Value.cast(instruction))
            ),
            self.o_idle.eq(~taken.any()),
            self.o_answered.eq(answers),
            self.o_warp.eq(Array(owner.warp for owner in owners)[place]),
        ]
        m.d.sync += waits.eq(self.o.valid & ~self.o.ready & ~leads)
        with m.If(leads & self.o.ready):
            m.d.sync += [answers.eq(0), taken.bit_select(place, 1).eq(0)]
        with m.If(read.en):
            m.d.sync += [answers.eq(1), place.eq(read.addr), success.eq(outcome.success)]
        return m

    def _elaborate_owners(self, m: Module, taken: Signal, takes: Value, free: Signal) -> list[Any]:
        """Warp and block of each place; whoever is issued takes the free one."""
        instruction = self.i_instruction.payload
        owners = []
        for number in range(len(taken)):
            owner = Signal(
                data.StructLayout({"warp": self._params.warp_bits, "slot": self._params.slot_bits}),
                name=f"owner_{number}", reset_less=True,
            )  # fmt: skip
            with m.If(takes & free[number]):
                m.d.sync += [
                    taken[number].eq(1),
                    owner.warp.eq(instruction.warp), owner.slot.eq(instruction.slot),
                ]  # fmt: skip
            owners.append(owner)
        return owners

    def _blocks(self, instruction: data.View, taken: Signal, owners: list[Any]) -> Value:
        """Whether a CAS before must leave first: of its warp, or of the whole block."""
        of_block = Cat(instruction.kind == kind for kind in sorted(OF_BLOCK)).any()
        return Cat(
            held & Mux(of_block, owner.slot == instruction.slot, owner.warp == instruction.warp)
            for held, owner in zip(taken, owners, strict=True)
        ).any()
