"""Address set: LSB and USB values of the addresses that a block reads or writes.

Ref: SigRace (ISCA'09) Section 4.1, Fig. 6; the sets stand for the signature until it is sent.
"""

from __future__ import annotations

from amaranth.hdl import Cat, Module, Signal, Value
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out

from racetrap.golden_model.sigrace.params import SigraceParams
from racetrap.golden_model.trace.threads.events import GRANULE_LOG2
from racetrap.rtl.sigrace.layouts import GRANULE_BITS, set_layout


class AddressSet(wiring.Component):
    """A bitmap of LSB values and a list of USB values, as two pipeline stages.

    First stage: the USB value of a granule at ``i_fetch`` is compared with the whole list,
    as it will be after this cycle.  Second stage, from the next cycle until the next fetch:
    ``o_overflows`` is high if the list is full for that granule; with ``i_insert`` it is inserted.
    ``i_clear`` empties the set before the insertion of the same cycle.  A fetch and an insertion
    may share a cycle: one granule a cycle.

    Parameters
    ----------
    params : SigraceParams
        Configuration, with form ``sets``.

    Members
    -------
    i_fetch : ``In(stream.Signature(30, always_ready=True))``
        Granules to look up.
    i_granule : ``In(30)``
        The granule fetched last.
    i_insert, i_clear : ``In(1)``
        Insert the granule fetched last; empty the set.
    o_overflows : ``Out(1)``
        The granule fetched last has a new USB value, and the list is full.
    o_set : ``Out(set_layout(params))``
        The set, before this cycle's changes.
    """

    def __init__(self, params: SigraceParams):
        self._params = params
        super().__init__({
            "i_fetch": In(stream.Signature(GRANULE_BITS, always_ready=True)),
            "i_granule": In(GRANULE_BITS),
            "i_insert": In(1),
            "i_clear": In(1),
            "o_overflows": Out(1),
            "o_set": Out(set_layout(params), init={"is_empty": 1}),
        })  # fmt: skip

    def elaborate(self, platform):
        m = Module()
        held = self.o_set
        lsb, usb = self._portions(self.i_granule)
        is_known = Signal()
        self._elaborate_lookup(m, usb, is_known)

        is_new = Signal()
        is_full = held.count == self._params.usb_limit
        m.d.comb += [
            is_new.eq(self.i_insert & (self.i_clear | ~is_known)),
            self.o_overflows.eq(is_full & ~is_known),
        ]
        with m.If(self.i_clear):
            m.d.sync += [held.bitmap.eq(0), held.count.eq(is_new), held.is_empty.eq(~is_new)]
        with m.Elif(is_new):
            m.d.sync += [held.count.eq(held.count + 1), held.is_empty.eq(0)]
        with m.If(self.i_insert):
            m.d.sync += held.bitmap.eq(
                (held.bitmap & ~self.i_clear.replicate(len(held.bitmap))) | (1 << lsb)
            )
        for place in range(self._params.usb_limit):
            is_place = (held.count == place) & ~self.i_clear
            if place == 0:
                is_place |= self.i_clear
            with m.If(is_new & is_place):
                m.d.sync += held.usb[place].eq(usb)
        return m

    def _portions(self, granule: Value) -> tuple[Value, Value]:
        """LSB value and USB value of a granule."""
        lsb_bits = self._params.lsb_bits - GRANULE_LOG2
        return granule[:lsb_bits], granule[lsb_bits:]

    def _elaborate_lookup(self, m: Module, usb: Value, is_known: Signal):
        """Keep ``is_known`` up to date: whether the granule fetched last has a listed USB value."""
        _, next_usb = self._portions(self.i_fetch.payload)
        is_listed = Cat(
            (value == next_usb) & (self.o_set.count > place)
            for place, value in enumerate(self.o_set.usb)
        ).any()
        with m.If(self.i_fetch.valid):
            is_being_inserted = self.i_insert & (usb == next_usb)
            m.d.sync += is_known.eq((is_listed & ~self.i_clear) | is_being_inserted)
        with m.Elif(self.i_clear | self.i_insert):
            # The granule waits while its block ends, or is in the set from now on.
            m.d.sync += is_known.eq(self.i_insert)
