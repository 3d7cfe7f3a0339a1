"""Entry: the metadata of a word.

Ref: ScoRD (ISCA'20) Section IV-A (an entry for each word), Section VI.
"""

from __future__ import annotations

from typing import NamedTuple

from racetrap.golden_model.causality.params import CausalityParams


class Side(NamedTuple):
    """Last write of a word, or the last read since.

    ``lane`` is the highest of the lanes that made it; ``several`` says that its bytes are of
    accesses by different lanes, so that no byte's lane is known.  ``named`` says that it is an
    atomic or names its order.  ``sc`` are the ``fence.sc`` (``Fenced``)
    before it.  The last five are of a writer: whether its warp has released before, to its block
    and to the device, whether it is a release operation itself, whether it took on the message
    that was there, and a hash of its instruction's place.
    """

    warp: int
    block: int
    clock: int
    lane: int
    several: int
    bytes: int
    strong: int
    named: int
    atomic: int
    device: int
    sc: int
    size: int
    released: int = 0
    released_device: int = 0
    operation: int = 0
    handed: int = 0
    place: int = 0


class Entry(NamedTuple):
    """Entry of a word.

    ``message`` are the bytes of the message that its writer wrote, ``mixed`` says that they are of
    several writes, so that a read of any size finds it.  ``lost`` says of the place that a message
    of another word was displaced from it, ``unknown`` that this word may be the one.
    """

    epoch: int = 0
    tag: int = 0
    lost: int = 0
    unknown: int = 0
    observed: int = 0
    message: int = 0
    mixed: int = 0
    writer: Side | None = None
    reader: Side | None = None

    def pack(self, params: CausalityParams) -> int:
        """The entry as in memory."""
        *flags, _, _ = self
        slots = (1 << params.slot_bits) - 1
        sides = [
            # A side's fields are those of its layout, with a block's slot for its number.
            0 if side is None else layout.pack_fields(
                (side.warp, side.block & slots, *side[2 : len(layout.fields)])
            )
            for side, layout in
            ((self.writer, params.writer_layout), (self.reader, params.side_layout))
        ]  # fmt: skip
        return params.entry_layout.pack_fields((*flags, *sides, 0))


def unpack_entry(params: CausalityParams, word: int) -> Entry:
    """Entry of what memory holds."""
    values = params.entry_layout.unpack(word)
    del values["unused"]
    for name in ("writer", "reader"):
        side = values[name]
        sm = side["warp"] >> params.warp_bits
        side["block"] = params.block_id(sm, side.pop("slot"))
        values[name] = Side(**side) if side["bytes"] else None
    return Entry(**values)
