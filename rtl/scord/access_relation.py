"""Relation of an access to the last one of its entry, as the decision tables need it.

Ref: ScoRD (ISCA'20) Section IV-A, Tables III and IV.
"""

from amaranth.hdl import Module
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out

from racetrap.golden_model.scord.params import FILTER_BIN_BITS, FILTER_BITS, ScordParams

#: Fields that packets and entries have in common.
_SHARED_FIELDS = ("filter", "block", "generation", "warp", "barrier_id")


def access_identity(params: ScordParams) -> data.StructLayout:
    """Identity of an access in a packet or an entry: warp, granule, locks, barrier and
    generation."""
    return data.StructLayout({
        "filter": FILTER_BITS,
        "block": params.block_bits,
        "generation": params.slot_generation_bits,
        "warp": params.warp_bits,
        "barrier_id": params.barrier_id_bits,
        "tag": params.tag_bits,
    })  # fmt: skip


def identify(identity: data.View, access: data.View, tag):
    """Statements that set ``identity`` from a packet or an entry with this tag."""
    return [
        *(identity[name].eq(access[name]) for name in _SHARED_FIELDS),
        identity.tag.eq(tag),
    ]


class AccessRelation(data.Struct):
    """Common properties of two accesses, and whether locks were held at each.

    ``own_warp`` is the same warp of the same block; two generations of one slot are two blocks.
    """

    own_warp: 1
    same_block: 1
    same_barrier: 1
    same_granule: 1
    locked: 1
    last_locked: 1
    common_lock: 1


def _holds_a_key(filter_bits):
    """Whether a lock filter is not empty: both of its bins have a bit."""
    return filter_bits[:FILTER_BIN_BITS].any() & filter_bits[FILTER_BIN_BITS:].any()


class AccessComparator(wiring.Component):
    """Compares two accesses.  Combinational.

    Parameters
    ----------
    params : ScordParams
        Configuration.

    Members
    -------
    i, i_last : ``In(access_identity(params))``
        The access, and the one before it.
    o : ``Out(AccessRelation)``
        What they have in common.
    """

    def __init__(self, params: ScordParams):
        identity = access_identity(params)
        super().__init__({"i": In(identity), "i_last": In(identity), "o": Out(AccessRelation)})

    def elaborate(self, platform):
        m = Module()
        access, last = self.i, self.i_last
        same_block = access.block == last.block
        if len(access.generation):
            same_block &= access.generation == last.generation
        m.d.comb += [
            self.o.same_block.eq(same_block),
            self.o.own_warp.eq(same_block & (access.warp == last.warp)),
            self.o.same_barrier.eq(access.barrier_id == last.barrier_id),
            self.o.same_granule.eq(access.tag == last.tag),
            self.o.locked.eq(_holds_a_key(access.filter)),
            self.o.last_locked.eq(_holds_a_key(last.filter)),
            self.o.common_lock.eq(_holds_a_key(access.filter & last.filter)),
        ]
        return m
