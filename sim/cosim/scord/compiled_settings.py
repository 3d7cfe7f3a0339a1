"""Settings of ScoRD's C++ for a launch: widths, positions of fields, regions.

Ref: ScoRD (ISCA'20) Section IV.
"""

from __future__ import annotations

from ctypes import Structure, c_uint32, c_uint64
from typing import Any

import numpy as np
from numpy.typing import NDArray

from racetrap.golden_model.events import AtomicOp, Scope
from racetrap.golden_model.gpu.params import ENTRY_BYTES, WORD_BYTES, WORDS_PER_LINE
from racetrap.golden_model.gpu.region_table import MonitoredRegion, RegionTable
from racetrap.golden_model.layout import Layout, index_bits
from racetrap.golden_model.scord.lock_hash import lock_hash_columns
from racetrap.golden_model.scord.metadata import (
    BLK_SHARED,
    DEV_SHARED,
    FILTER_MASK,
    IS_ATOM,
    MODIFIED,
    SCOPE,
    STRONG,
    UNINITIALISED_ENTRY,
)
from racetrap.golden_model.scord.packets import (
    LockState,
    Packet,
    PacketKind,
    Preliminary,
    RaceKind,
    Step,
    TableRow,
    Transaction,
    TransactionKind,
)
from racetrap.golden_model.scord.params import FILTER_BIN_BITS, AccessPolicy, ScordParams
from racetrap.sim.cosim.fast.packing import words_of
from racetrap.sim.twins import constants, enumeration, positions, record, structure

_LOCK_HASH_COLUMNS = 64
_ENTRY_FIELDS = (
    "barrier_id", "blk_fence_id", "dev_fence_id", "warp", "block", "tag", "generation",
)  # fmt: skip
#: A monitored region: granules are counted from ``frame``, entries from ``first_index``.
_REGION_DTYPE = np.dtype([
    (name, "<u8") for name in ("data_base", "end", "frame", "entries", "first_index")
])  # fmt: skip


class Field(Structure):
    """Position of a field in a record of 32-bit words, in bits."""

    _fields_ = (("offset", c_uint32), ("width", c_uint32))


class TransactionFields(Structure):
    """Fields of a transaction."""

    _fields_ = tuple((name, Field) for name in Transaction._fields)


class StepFields(Structure):
    """Fields of a step, those of its packet first."""

    _fields_ = tuple((name, Field) for name in (*Packet._fields, *Step._fields[1:]))


class EntryFields(Structure):
    """Fields of an entry above its flags."""

    _fields_ = tuple((name, Field) for name in _ENTRY_FIELDS)


_NUMBERS = (
    "sm_count", "blocks_per_sm", "warps_per_sm", "slot_bits", "warp_bits", "granularity_bits",
    "lock_table_depth", "fence_id_bits", "barrier_id_bits", "banks", "words_per_cycle", "port_bits",
    "odd_ports", "residue_bits", "policy", "sample_log2", "transaction_words", "step_words",
    "slot_generation_bits", "lane_bits", "fence_lanes", "fence_lane_bits", "fence_part_bits",
    "metadata_ports", "outstanding", "packet_fifo_depth", "merge_in_flight",
)  # fmt: skip


class Settings(Structure):
    """Configuration of a launch."""

    _fields_ = (
        *((name, c_uint32) for name in _NUMBERS),
        ("lock_hash_columns", c_uint32 * _LOCK_HASH_COLUMNS),
        ("transaction", TransactionFields),
        ("step", StepFields),
        ("entry", EntryFields),
        ("metadata_base", c_uint64),
    )


#: Declarations of all this.
SCORD_TWINS = (
    enumeration(TransactionKind, name="Kind"),
    enumeration(PacketKind, prefix="PACKET_"),
    enumeration(Scope),
    enumeration(AtomicOp),
    enumeration(LockState),
    enumeration(Preliminary, renamed={"BARRIER": "SAME_BARRIER"}),
    enumeration(RaceKind, renamed={"NONE": "NO_RACE"}),
    enumeration(TableRow, renamed={"NONE": "NO_ROW", "FENCE": "FENCE_ROW"}),
    positions("Policy", [policy.name for policy in AccessPolicy]),
    constants({
        "LINE_WORDS": WORDS_PER_LINE, "LINE_SHIFT": index_bits(WORDS_PER_LINE),
        "WORD_SHIFT": index_bits(WORD_BYTES), "FILTER_PART_BITS": FILTER_BIN_BITS,
    }, ctype="unsigned"),
    constants({
        "FILTER_MASK": FILTER_MASK, "STRONG": STRONG, "SCOPE": SCOPE, "IS_ATOM": IS_ATOM,
        "DEV_SHARED": DEV_SHARED, "BLK_SHARED": BLK_SHARED, "MODIFIED": MODIFIED,
        "UNINITIALISED_ENTRY": UNINITIALISED_ENTRY,
    }, ctype="uint64_t"),
    *map(structure, (Field, TransactionFields, StepFields, EntryFields, Settings)),
    record(_REGION_DTYPE, "Region"),
)  # fmt: skip


def _places(layout: Layout, fields: type[Structure]) -> Any:
    """Positions of a structure's fields in a word; nested ones by their last name."""
    places = {
        name.rpartition(".")[2]: Field(offset, width) for name, offset, width in layout.flat()
    }
    return fields(**{name: places[name] for name, *_ in fields._fields_})


def settings_of(params: ScordParams, region: MonitoredRegion) -> Settings:
    """Settings of a launch."""
    own = {name: getattr(params, name) for name in _NUMBERS if hasattr(params, name)}
    return Settings(
        **own,
        policy=list(AccessPolicy).index(params.access_policy),
        transaction_words=words_of(params.transaction_layout),
        step_words=words_of(params.step_layout),
        lock_hash_columns=(c_uint32 * _LOCK_HASH_COLUMNS)(*lock_hash_columns(_LOCK_HASH_COLUMNS)),
        transaction=_places(params.transaction_layout, TransactionFields),
        step=_places(params.step_layout, StepFields),
        entry=_places(params.entry_layout, EntryFields),
        metadata_base=region.metadata_base,
    )


def regions_of_launch(params: ScordParams, region: MonitoredRegion) -> NDArray[np.void]:
    """Monitored regions of a launch, a record each."""
    if isinstance(region, RegionTable):
        used = [one for one in region.regions if one.lines]
        rows = [
            (one.data_base, one.end, one.frame(params), one.entries(params),
             (one.metadata_base - region.metadata_base) // ENTRY_BYTES)
            for one in used
        ]  # fmt: skip
    else:
        ((base, size),) = region.parts
        rows = [(base, base + size, base >> params.granularity_bits, region.entries(params), 0)]
    return np.array(rows, dtype=_REGION_DTYPE)
