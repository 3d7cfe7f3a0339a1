"""Issue decoder: what a GPU detector must know of an instruction that Vortex issues.

Ref: Vortex 3.0, VX_operands; ScoRD (ISCA'20) Section IV, Fig. 6.
"""

from __future__ import annotations

from amaranth.hdl import Array, Module, Mux, Signal
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out

from racetrap.golden_model.vortex.issue_decoder import (
    BIT_OF_OTHER_BARRIERS,
    ISSUE_LAYOUT,
    LANES,
    UUID_BITS,
    Action,
    SpecialOperation,
    Unit,
)
from racetrap.rtl.common.layout import struct_layout

_WORD = 32
_FENCE = 3

#: An instruction that concerns a detector; fields as of the golden ``Issued``.
ISSUED = data.StructLayout({
    "action": Action, "uuid": UUID_BITS, "warp": 2, "slot": 2, "lanes": LANES, "pc": _WORD,
    "size": 2, "addresses": data.ArrayLayout(_WORD, LANES),
    "values": data.ArrayLayout(_WORD, LANES), "number": 3, "warps": 3,
})  # fmt: skip


class IssueDecoder(wiring.Component):
    """Decodes the packed word of an instruction, combinationally.

    Members
    -------
    i : ``In(515)``
        Packed word, with the fields of ``ISSUE_LAYOUT``.
    o : ``Out(ISSUED)``
        The instruction.
    o_concerns : ``Out(1)``
        It concerns a detector.
    """

    def __init__(self) -> None:
        super().__init__({
            "i": In(struct_layout(ISSUE_LAYOUT)), "o": Out(ISSUED), "o_concerns": Out(1),
        })  # fmt: skip

    def elaborate(self, platform):
        m = Module()
        word, out = self.i, self.o
        registers = data.ArrayLayout(_WORD, LANES)
        first = Signal(registers, name="first")
        second = Signal(registers, name="second")
        m.d.comb += [
            first.as_value().eq(word.first),
            second.as_value().eq(word.second),
            *(out[name].eq(word[name]) for name in ("uuid", "warp", "slot", "lanes", "pc")),
        ]
        with m.Switch(word.unit):
            with m.Case(Unit.LOAD_STORE):
                self._decode_memory(m, first, second)
            with m.Case(Unit.SPECIAL):
                self._decode_special(m, first, second)
        return m

    def _decode_memory(self, m: Module, first: data.View, second: data.View) -> None:
        word, out = self.i, self.o
        kind = word.operation[2:]
        m.d.comb += [
            self.o_concerns.eq(1),
            out.action.eq(
                Mux(kind == _FENCE, Action.FENCE, Mux(kind[1], Action.STORE, Action.LOAD))
            ),
        ]
        with m.If(kind != _FENCE):
            m.d.comb += [
                out.size.eq(word.operation[:2]), out.values.as_value().eq(second.as_value()),
            ]  # fmt: skip
            for lane in range(LANES):
                element = Mux(word.offset[0], second[lane], 0) + Mux(
                    word.offset[1], second[lane] << 1, 0
                )
                distance = Mux(word.packed.any(), element, word.offset.as_signed())
                m.d.comb += out.addresses[lane].eq(first[lane] + distance)

    def _decode_special(self, m: Module, first: data.View, second: data.View) -> None:
        word, out = self.i, self.o
        lane = Signal(range(LANES), name="lane")
        for number in range(LANES):
            with m.If(word.lanes[number]):
                m.d.comb += lane.eq(number)
        one, other = (Signal(_WORD, name=name) for name in ("one", "other"))
        m.d.comb += [one.eq(Array(first)[lane]), other.eq(Array(second)[lane])]
        waits, arrives = word.offset[1], word.offset[0]
        is_other = one[BIT_OF_OTHER_BARRIERS] | other[BIT_OF_OTHER_BARRIERS]
        m.d.comb += out.action.eq(Action.UNSUPPORTED)
        with m.If(word.lanes.any()), m.Switch(word.operation):
            with m.Case(SpecialOperation.TMC):
                m.d.comb += [self.o_concerns.eq(~one[:LANES].any()), out.action.eq(Action.END)]
            with m.Case(SpecialOperation.WSPAWN):
                m.d.comb += self.o_concerns.eq(1)
            with m.Case(SpecialOperation.WSYNC):
                m.d.comb += [self.o_concerns.eq(1), out.action.eq(Action.WSYNC)]
            with m.Case(SpecialOperation.BAR):
                m.d.comb += self.o_concerns.eq(1)
                with m.If(~is_other & (waits | arrives)):
                    m.d.comb += [
                        out.action.eq(Mux(waits, Action.BARRIER, Action.ARRIVE)),
                        out.number.eq(one[8:11]),
                        out.warps.eq(other[:3]),
                    ]
