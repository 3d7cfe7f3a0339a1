"""Block sets: read and write set of a block, in the form in which they are sent.

Ref: SigRace (ISCA'09) Sections 3.2 and 4.1, Fig. 5(b) (R and W).
"""

from __future__ import annotations

from amaranth.hdl import Module, Mux
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out, connect, flipped

from racetrap.golden_model.sigrace.params import Form, SigraceParams
from racetrap.rtl.sigrace.address_set import AddressSet
from racetrap.rtl.sigrace.layouts import GRANULE_BITS, index_layout, set_layout
from racetrap.rtl.sigrace.signature_bank import SignatureBank


class BlockSets(wiring.Component):
    """Read and write set of a block: address sets, or signatures (form ``hashed``).

    Two pipeline stages: a granule is fetched, and from the next cycle on, until the next fetch,
    it can be inserted.  Both may share a cycle: one granule a cycle.

    Parameters
    ----------
    params : SigraceParams
        Configuration.

    Members
    -------
    i_fetch : ``In(stream.Signature(30, always_ready=True))``
        Granules to look up.
    i_granule, i_indices : ``In(30)``, ``In(index_layout(params))``
        The granule fetched last, and its bit in each filter (used by form ``hashed`` only).
    i_is_write : ``In(1)``
        It belongs to the write set.
    i_insert : ``In(1)``
        Insert it.
    i_clear : ``In(1)``
        Empty both sets, before the insertion of the same cycle.
    o_overflows : ``Out(1)``
        The granule fetched last does not fit into its set (depends on ``i_is_write``).
    o_read, o_write : ``Out(set_layout(params))``
        The sets, before this cycle's changes.
    o_is_empty : ``Out(1)``
        Both sets are empty, before this cycle's changes.
    """

    def __init__(self, params: SigraceParams):
        self._params = params
        super().__init__({
            "i_fetch": In(stream.Signature(GRANULE_BITS, always_ready=True)),
            "i_granule": In(GRANULE_BITS),
            "i_indices": In(index_layout(params)),
            "i_is_write": In(1),
            "i_insert": In(1),
            "i_clear": In(1),
            "o_overflows": Out(1),
            "o_read": Out(set_layout(params)),
            "o_write": Out(set_layout(params)),
            "o_is_empty": Out(1),
        })  # fmt: skip

    def elaborate(self, platform):
        m = Module()
        is_hashed = self._params.form is Form.HASHED
        kind = SignatureBank if is_hashed else AddressSet
        m.submodules.read = read = kind(self._params)
        m.submodules.write = write = kind(self._params)
        m.d.comb += [
            read.i_insert.eq(self.i_insert & ~self.i_is_write),
            write.i_insert.eq(self.i_insert & self.i_is_write),
            self.o_read.eq(read.o_set),
            self.o_write.eq(write.o_set),
            self.o_is_empty.eq(read.o_set.is_empty & write.o_set.is_empty),
        ]
        for one in (read, write):
            m.d.comb += one.i_clear.eq(self.i_clear)
            if is_hashed:
                m.d.comb += one.i_indices.eq(self.i_indices)
            else:
                connect(m, flipped(self.i_fetch), one.i_fetch)
                m.d.comb += one.i_granule.eq(self.i_granule)
        if not is_hashed:
            m.d.comb += self.o_overflows.eq(
                Mux(self.i_is_write, write.o_overflows, read.o_overflows)
            )
        return m
