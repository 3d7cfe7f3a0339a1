"""Decoder of the read and the write set of a Summary message (form ``sets``).

Ref: SigRace (ISCA'09) Section 3.1 (compressed signatures), Section 4.1.
"""

from __future__ import annotations

from amaranth.hdl import Cat, Const, Module, Mux, Signal, Value
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from racetrap.golden_model.sigrace.params import FLIT_BITS, SigraceParams
from racetrap.rtl.sigrace.summary_hasher import LsbHasher, UsbHasher


def decoder_members(params: SigraceParams) -> dict[str, wiring.Member]:
    """Members of a decoder of one form; see :class:`SetDecoder`."""
    return {
        "i_bits": In(FLIT_BITS),
        "i_go": In(1),
        "i_is_write": In(1),
        "o_needed": Out(range(FLIT_BITS + 1)),
        "o_forbidden": Out(1),
        "o_done": Out(1),
        "o_read": Out(params.signature_bits),
        "o_write": Out(params.signature_bits),
    }


class SetDecoder(wiring.Component):
    """Turns the two sets of a message into signatures, one field a cycle.

    A field is the "empty" bit, a run of the bitmap, the number of USB values, or a USB value. Runs
    go into a bitmap, from which the filters of the LSB portion follow by fixed wiring; USB values
    are hashed.  A field is in its signature two cycles after it was taken.  A reset prepares for
    the next message.

    Parameters
    ----------
    params : SigraceParams
        Configuration, of form ``sets``.

    Members
    -------
    i_bits : ``In(32)``
        The next bits of the message.
    i_go : ``In(1)``
        Take the field: ``o_needed`` bits are available and ``o_forbidden`` is low.
    i_is_write : ``In(1)``
        The field belongs to the write set, not to the read set.
    o_needed : ``Out(range(33))``
        Bits of the field, as far as the available bits determine it.
    o_forbidden : ``Out(1)``
        No correct message has this field; valid if ``o_needed`` bits are available.
    o_done : ``Out(1)``
        The field is its set's last one.
    o_read, o_write : ``Out(signature_bits)``
        Signatures of the sets.
    """

    def __init__(self, params: SigraceParams):
        self._params = params
        super().__init__(decoder_members(params))

    def elaborate(self, platform):
        m = Module()
        params = self._params
        run = _Run(params, m)
        remaining = Signal(params.usb_count_bits)
        has_usb = Signal()
        usb = Signal(params.usb_bits)
        is_write = Signal()
        m.d.sync += [run.valid.eq(0), has_usb.eq(0), is_write.eq(self.i_is_write)]

        with m.FSM():
            with m.State("EMPTY"):
                is_empty = self.i_bits[0]
                m.d.comb += [self.o_needed.eq(Mux(is_empty, 1, 2)), self.o_done.eq(is_empty)]
                with m.If(self.i_go & ~is_empty):
                    m.d.sync += run.begin(self.i_bits[1])
                    m.next = "RUN"
            with m.State("RUN"):
                is_last = run.decode(m, self.i_bits)
                m.d.comb += [self.o_needed.eq(run.needed), self.o_forbidden.eq(run.forbidden)]
                with m.If(self.i_go):
                    m.d.sync += run.take()
                    with m.If(is_last):
                        m.next = "USB_COUNT"
            with m.State("USB_COUNT"):
                count = self.i_bits[: params.usb_count_bits]
                m.d.comb += [
                    self.o_needed.eq(params.usb_count_bits),
                    self.o_forbidden.eq((count == 0) | (count > params.usb_limit)),
                ]
                with m.If(self.i_go):
                    m.d.sync += remaining.eq(count)
                    m.next = "USB"
            with m.State("USB"):
                m.d.comb += [self.o_needed.eq(params.usb_bits), self.o_done.eq(remaining == 1)]
                with m.If(self.i_go):
                    m.d.sync += [
                        has_usb.eq(1),
                        usb.eq(self.i_bits),
                        remaining.eq(remaining - 1),
                    ]
                    with m.If(self.o_done):
                        m.next = "EMPTY"
        self._elaborate_collection(m, is_write, run, has_usb, usb)
        return m

    def _elaborate_collection(
        self, m: Module, is_write: Value, run: _Run, has_usb: Value, usb: Value
    ) -> None:
        """Second stage: put the field that was taken into its set."""
        params = self._params
        m.submodules.usb_hasher = usb_hasher = UsbHasher(params)
        m.d.comb += usb_hasher.i_value.eq(usb)
        covered = run.mask()
        for number, output in enumerate((self.o_read, self.o_write)):
            name = ("read", "write")[number]
            m.submodules[f"{name}_hasher"] = lsb_hasher = LsbHasher(params)
            bitmap = Signal(params.lsb_values, name=f"{name}_bitmap")
            filters = Signal.like(usb_hasher.o_filters, name=f"{name}_usb_filters")
            m.d.comb += [
                lsb_hasher.i_bitmap.eq(bitmap),
                output.eq(Cat(lsb_hasher.o_filters, filters)),
            ]
            with m.If(is_write == number):
                with m.If(run.valid):
                    m.d.sync += bitmap.eq(bitmap | covered)
                with m.If(has_usb):
                    m.d.sync += filters.eq(filters | usb_hasher.o_filters)


class _Run:
    """Elias-gamma runs of alternating value, and the last one taken."""

    def __init__(self, params: SigraceParams, m: Module):
        self._values = params.lsb_values
        #: Zero bits that the longest run's code begins with.
        self._most_zeros = params.lsb_values.bit_length() - 1
        length_bits = params.lsb_values.bit_length()
        self._value = Signal(name="run_value")
        self._position = Signal(length_bits, name="run_position")
        self._end = Signal(length_bits + 1, name="run_end")
        self.needed = Signal(range(2 * self._most_zeros + 2), name="run_needed")
        self.forbidden = Signal(name="run_forbidden")
        # The run taken last: bits from `start` up to the position now, if they are ones.
        self.valid = Signal(name="run_valid")
        self._start = Signal(length_bits, name="run_start")

    def begin(self, value: Value) -> list:
        """Expect the first run of a bitmap next."""
        return [self._value.eq(value), self._position.eq(0)]

    def decode(self, m: Module, bits: Value) -> Value:
        """Decode the code in ``bits``; return whether it is the bitmap's last run."""
        most = self._most_zeros
        length = Signal(most + 1, name="run_length")
        m.d.comb += [self.needed.eq(most + 1), self.forbidden.eq(1)]
        for zeros in reversed(range(most + 1)):
            with m.If(bits[zeros]):
                low = bits[zeros + 1 : 2 * zeros + 1]
                m.d.comb += [
                    self.needed.eq(2 * zeros + 1),
                    length.eq(Cat(low, Const(1, 1))),
                    self.forbidden.eq(self._end > self._values),
                ]
        m.d.comb += self._end.eq(self._position + length)
        return self._end == self._values

    def take(self) -> list:
        """Take the run that was decoded."""
        return [
            self.valid.eq(self._value),
            self._start.eq(self._position),
            self._position.eq(self._end),
            self._value.eq(~self._value),
        ]

    def mask(self) -> Value:
        """Bits of the bitmap that the run taken last covers."""
        return Cat((self._start <= bit) & (self._position > bit) for bit in range(self._values))
