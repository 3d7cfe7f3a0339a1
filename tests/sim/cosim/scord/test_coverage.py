"""Functional coverage model of ScoRD: what counts as a hit of each bin."""

import pytest

from racetrap.golden_model.events import AtomicOp
from racetrap.golden_model.gpu.region import Region
from racetrap.golden_model.scord.packets import (
    LockState,
    Packet,
    PacketKind,
    Step,
    TableRow,
    Transaction,
    TransactionKind,
)
from racetrap.golden_model.scord.params import ScordParams
from racetrap.sim.cosim.scord.coverage import Coverage
from racetrap.sim.cosim.scord.coverage_bins import BINS, GENERATION_BINS, UNREACHABLE

_PARAMS = ScordParams(ratio=1, banks=2)
_REGION = Region(0, 16)


def _step(kind=PacketKind.LOAD, word=0, row=TableRow.LOAD_FIRST, **fields):
    packet = Packet(kind, 0, 0, fields.pop("block", 0), 0, 0, 0, 0, word)
    values = dict.fromkeys(Step._fields, 0) | {"packet": packet, "row": row} | fields
    return Step(**values)


@pytest.fixture
def coverage():
    coverage = Coverage(_PARAMS)
    coverage.launch(_REGION)
    return coverage


def test_rows_are_counted_by_kind(coverage):
    coverage.step(0, _step())
    coverage.step(0, _step(PacketKind.ATOMIC, row=TableRow.STORE_BOTH_ATOMIC))
    assert coverage.counts["row.load_first.load"] == 1
    assert coverage.counts["row.store_both_atomic.atomic"] == 1
    assert coverage.counts["row.store_both_atomic.store"] == 0


def test_distance_counts_steps_of_one_bank_between_accesses_to_one_entry(coverage):
    for word in (0, 1, 0, 0):
        coverage.step(0, _step(word=word))
    coverage.step(1, _step(word=1))
    assert coverage.counts["hazard.distance.2"] == 1
    assert coverage.counts["hazard.distance.1"] == 1
    assert sum(coverage.counts[name] for name in BINS if name.startswith("hazard")) == 2


def test_race_scope_is_that_of_the_owner(coverage):
    other = _PARAMS.entry_layout.pack(dict.fromkeys(_PARAMS.entry_layout.fields, 0) | {"block": 5})
    coverage.step(0, _step(row=TableRow.LOAD_NO_COMMON_LOCK, race=5, before=other))
    coverage.step(0, _step(row=TableRow.LOAD_NO_COMMON_LOCK, race=5, before=other, block=5))
    assert coverage.counts["race.missing_lock.load.device"] == 1
    assert coverage.counts["race.missing_lock.load.block"] == 1


def test_blocks_of_one_slot():
    """An entry of another generation is one of another block; an uninitialised one of none."""
    params = ScordParams(ratio=1, banks=2, slot_generation_bits=2)
    coverage = Coverage(params)
    coverage.launch(_REGION)
    fields = dict.fromkeys(params.entry_layout.fields, 0)
    owner = params.entry_layout.pack(fields | {"generation": 3})
    warp = params.entry_layout.pack(fields | {"generation": 3, "warp": 1})
    for before, more in (
        (owner, {"race": 2}), (warp, {}), (owner, {"block": 1}), (owner, {"preliminary": 1}),
    ):  # fmt: skip
        coverage.step(0, _step(row=TableRow.LOAD_UNFENCED_WRITE, before=before, **more))
    assert coverage.counts["race.missing_device_fence.load.device"] == 1
    assert coverage.counts["generation.same_warp.load"] == 1
    assert coverage.counts["generation.other_warp.load"] == 1
    for _ in range(4):
        assert coverage.counts["wrap.generation"] == 0
        coverage.transaction(0, Transaction(TransactionKind.BLOCK_START, mask=1), [], [], [])
    assert coverage.counts["wrap.generation"] == 1


def test_instances_without_generations_have_no_bin_of_them(coverage):
    bins = {name for name, *_ in coverage.table()}
    assert not GENERATION_BINS.keys() & bins
    assert Coverage(ScordParams(slot_generation_bits=1)).missed[-1] == "wrap.generation"


def test_fence_counters_that_come_round_are_seen(coverage):
    coverage.step(0, _step(PacketKind.FENCE, row=TableRow.FENCE, own_blk_fence_id=63))
    assert coverage.counts["wrap.fence_id.block"] == 0
    coverage.step(0, _step(PacketKind.FENCE, row=TableRow.FENCE, own_dev_fence_id=63))
    assert coverage.counts["wrap.fence_id.block"] == 1


def test_lock_transitions(coverage):
    cas = Transaction(TransactionKind.ATOMIC, op=AtomicOp.CAS, lock_mask=1)
    entry = (3, LockState.PENDING_BLOCK)
    coverage.transaction(0, cas, [], [entry], [])
    coverage.transaction(0, cas, [entry], [entry], [])
    coverage.transaction(0, cas, [entry] * 4, [(4, LockState.PENDING_BLOCK), *[entry] * 3], [])
    fence = Transaction(TransactionKind.FENCE)
    coverage.transaction(0, fence, [entry], [(3, LockState.HELD_BLOCK)], [])
    exch = Transaction(TransactionKind.ATOMIC, op=AtomicOp.EXCH, lock_mask=1)
    coverage.transaction(0, exch, [entry], [], [])
    for name in (
        "cas_block.inserted", "cas_block.already_there", "cas_block.oldest_left",
        "fence_block.pending_block_to_held_block", "exch_block.pending_block",
    ):  # fmt: skip
        assert coverage.counts[f"lock.{name}"] == 1, name


def test_unknown_bins_are_refused(coverage):
    with pytest.raises(KeyError, match=r"Unknown coverage bin 'no.such.bin'"):
        coverage.hit("no.such.bin")


def test_only_known_bins_have_reasons():
    assert UNREACHABLE.keys() <= BINS.keys()
