"""Set encoder: from an address set to the fields of a Summary message.

Ref: SigRace (ISCA'09) Section 4.2 (compressed signatures), Section 5.5 ("about 100 bytes").
"""

from __future__ import annotations

from amaranth.hdl import Cat, Const, Module, Mux, Signal, Value
from amaranth.lib import wiring

from racetrap.golden_model.sigrace.params import SigraceParams
from racetrap.rtl.common.stream import StreamRegister
from racetrap.rtl.sigrace.bit_scanner import BitScanner
from racetrap.rtl.sigrace.fields import encoder_members, put_field
from racetrap.rtl.sigrace.layouts import set_layout


class SetEncoder(wiring.Component):
    """Writes the bitmap as runs in Elias gamma code, then the USB values unencoded.

    One field a cycle: whether the set is empty, with the value of the first run; each run; the
    number of USB values; each USB value.  Two cycles are lost before the first run.  The next set
    is taken in the cycle after the last field has left.  ``i.ready`` depends on flip-flops only.

    Parameters
    ----------
    params : SigraceParams
        Configuration, with form ``sets``.

    Members
    -------
    i : ``In(stream.Signature(set_layout(params)))``
        Sets.
    o : ``Out(stream.Signature(Field))``
        Fields; ``last`` marks the last one of a set.
    """

    def __init__(self, params: SigraceParams):
        self._params = params
        super().__init__(encoder_members(params))

    def elaborate(self, platform):
        m = Module()
        params = self._params
        held = Signal(set_layout(params))
        m.submodules.scanner = scanner = BitScanner(params.lsb_values)
        # A bit for each run: at its last place.
        changes = held.bitmap[1:] ^ held.bitmap[:-1]
        m.d.comb += scanner.i_bits.eq(Cat(changes, Const(1, 1)))
        m.submodules.run_end = run_end = StreamRegister(scanner.o.payload.shape())
        wiring.connect(m, scanner.o, run_end.i)

        with m.FSM(init="IDLE"):
            with m.State("IDLE"):
                m.d.comb += self.i.ready.eq(1)
                with m.If(self.i.valid):
                    m.d.sync += held.eq(self.i.payload)
                    m.next = "EMPTY"
            with m.State("EMPTY"):
                m.d.comb += scanner.i_start.eq(~held.is_empty)
                # If empty: a single one.
                first = Mux(held.is_empty, 1, Cat(Const(0, 1), held.bitmap[0]))
                with m.If(put_field(m, self.o, first, 2 - held.is_empty, is_end=held.is_empty)):
                    m.next = "RUNS"
                    with m.If(held.is_empty):
                        m.next = "IDLE"
            with m.State("RUNS"):
                with m.If(self._put_run(m, run_end.o) & run_end.o.payload.last):
                    m.next = "COUNT"
            with m.State("COUNT"):
                with m.If(put_field(m, self.o, held.count, params.usb_count_bits)):
                    m.next = "USB"
            with m.State("USB"):
                is_end = held.count == 1
                with m.If(put_field(m, self.o, held.usb[0], params.usb_bits, is_end=is_end)):
                    m.d.sync += [
                        held.usb.as_value().eq(held.usb.as_value() >> params.usb_bits),
                        held.count.eq(held.count - 1),
                    ]
                    with m.If(is_end):
                        m.next = "IDLE"
        return m

    def _put_run(self, m: Module, run_end) -> Value:
        """Offer a run: as long as its end lies behind that of the run before."""
        position = run_end.payload.position
        before = Signal(len(position))  # first place behind the run before; wraps to 0
        length = Signal(self._params.lsb_values.bit_length())
        m.d.comb += [run_end.ready.eq(self.o.ready), length.eq(position + 1 - before)]
        data, width = self._gamma(m, length)
        is_taken = put_field(m, self.o, data, width, is_there=run_end.valid)
        with m.If(is_taken):
            m.d.sync += before.eq(position + 1)
        return is_taken

    def _gamma(self, m: Module, number: Value) -> tuple[Value, Value]:
        """Code and width of a number: N zeros, a one, its N lower bits; N = floor(log2 number)."""
        code = Signal(2 * len(number) - 1)
        width = Signal(range(len(code) + 1))
        # The highest bit that is set decides: later assignments win.
        for extra in range(len(number)):
            with m.If(number[extra]):
                m.d.comb += [
                    code.eq(Cat(Const(0, extra), Const(1, 1), number[:extra])),
                    width.eq(2 * extra + 1),
                ]
        return code, width
