"""The bit-level tables against a second, plain-words transcription of them."""

from itertools import product
from random import Random

import pytest

from racetrap.golden_model.scord.detection_logic import DetectionLogic
from racetrap.golden_model.scord.metadata import FRESH_ENTRY, pack_entry, unpack_entry
from racetrap.golden_model.scord.packets import Packet, PacketKind, Preliminary, RaceKind, Row
from racetrap.golden_model.scord.params import ScordParams

PARAMS = ScordParams()
LOCK_A, LOCK_B = 0x0101, 0x0202
#: Only one bin in use: holds no key, and is so "empty".
HALF = 0x0001


def empty(filter_bits):
    return filter_bits & 0xFF == 0 or filter_bits >> 8 == 0


def plain_words(packet, md, owner, own):
    """Row, race and entry left behind, for an entry that is not fresh."""
    store = packet.kind != PacketKind.LOAD
    atomic = packet.kind == PacketKind.ATOMIC

    def take(modified, **changes):
        return md | {
            "filter": packet.filter,
            "strong": packet.strong,
            "scope": packet.scope,
            "is_atom": int(atomic),
            "dev_shared": 0,
            "blk_shared": 0,
            "modified": modified,
            "barrier_id": packet.barrier_id,
            "blk_fence_id": own[0],
            "dev_fence_id": own[1],
            "warp": packet.warp,
            "block": packet.block,
        } | changes  # fmt: skip

    same_block = md["block"] == packet.block
    own_warp = same_block and md["warp"] == packet.warp
    bfence, dfence = md["blk_fence_id"] != owner[0], md["dev_fence_id"] != owner[1]
    strong = md["strong"] and packet.strong
    common = md["filter"] & packet.filter
    neither = empty(md["filter"]) and empty(packet.filter)
    scoped = md["is_atom"] and not md["scope"] and not same_block
    private = not md["blk_shared"] and not md["dev_shared"]

    if same_block and md["barrier_id"] != packet.barrier_id and not md["dev_shared"]:
        return ("W1" if store else "R1"), None, take(int(store))
    if store:
        if own_warp and private:
            return "W2", None, take(1)
        if scoped:
            return "W3", "SCOPED_ATOMIC", take(1)
        if md["is_atom"] and atomic:
            kept = {name: md[name] for name in ("dev_shared", "blk_shared", "filter")}
            return "W4", None, take(1, **kept)
        if same_block and not dfence and (not bfence or md["dev_shared"]):
            return "W5", "MISSING_BLOCK_FENCE", take(1)
        if not same_block and not dfence:
            return "W5", "MISSING_DEVICE_FENCE", take(1)
        if not strong:
            return "W6", "NOT_STRONG", take(1)
        if neither:
            return "W7", None, take(1, strong=strong)
        if empty(common):
            return "W8", "MISSING_LOCK", take(1)
        return "W9", None, take(1, strong=strong, filter=common)

    if own_warp and private:
        return "R2", None, take(int(md["modified"] and not bfence and not dfence))
    if scoped:
        return "R3", "SCOPED_ATOMIC", take(0)
    if md["modified"] and not own_warp:
        if same_block and not bfence and not dfence:
            return "R4", "MISSING_BLOCK_FENCE", take(0)
        if not same_block and not dfence:
            return "R4", "MISSING_DEVICE_FENCE", take(0)
        if not strong:
            return "R4", "NOT_STRONG", take(0)
    if neither and md["modified"]:
        return "R5", None, take(int(own_warp), strong=strong)
    if neither:
        if same_block and not md["dev_shared"]:
            return "R6", None, md | {"blk_shared": 1}
        return "R6", None, md | {"dev_shared": 1, "blk_shared": 0}
    if md["modified"] and empty(common):
        return "R7", "MISSING_LOCK", take(0)
    after = dict(md)
    if empty(md["filter"]):
        after["filter"] = packet.filter
    elif not empty(packet.filter):
        after["filter"] = common
    if not same_block:
        after |= {"dev_shared": 1, "blk_shared": 0}
    elif not own_warp and not md["dev_shared"]:
        after["blk_shared"] = 1
    return "R8", None, after


FLAGS = ("strong", "scope", "is_atom", "dev_shared", "blk_shared", "modified")
PARTIES = {"own warp": (5, 9), "own block": (5, 8), "other block": (77, 9)}
CHANGED = list(product((0, 1), repeat=3))  # barrier, block fence, device fence since?
#: Filter of the entry and of the access.
FILTERS = [
    (0, 0), (HALF, 0), (0, HALF), (LOCK_A, 0), (0, LOCK_A), (LOCK_A, HALF), (HALF, LOCK_A),
    (LOCK_A, LOCK_A), (LOCK_A, LOCK_B), (LOCK_A | LOCK_B, LOCK_B),
]  # fmt: skip


@pytest.mark.parametrize("party", PARTIES)
@pytest.mark.parametrize(
    ("kind", "scope", "strong"),
    [
        (PacketKind.LOAD, 0, 0),
        (PacketKind.LOAD, 0, 1),
        (PacketKind.STORE, 0, 0),
        (PacketKind.STORE, 0, 1),
        (PacketKind.ATOMIC, 0, 1),
        (PacketKind.ATOMIC, 1, 1),
    ],
)
def test_every_combination(kind, scope, strong, party):
    """Exhaustive over flags, parties, counters changed or not, and lock filters."""
    logic = DetectionLogic(PARAMS)
    block, warp = PARTIES[party]
    owner, own, tag = (20, 63), (7, 8), 11
    compared = 0
    for flags in product((0, 1), repeat=len(FLAGS)):
        named = dict(zip(FLAGS, flags, strict=True))
        if named["modified"] and named["blk_shared"] and named["dev_shared"]:
            continue  # fresh
        for (barrier, bfence, dfence), (locks, own_locks) in product(CHANGED, FILTERS):
            packet = Packet(kind, scope, strong, 5, 9, 200, own_locks, 0, 0)
            entry = pack_entry(
                PARAMS, **named, filter=locks, tag=tag, block=block, warp=warp,
                barrier_id=200 ^ barrier, blk_fence_id=20 ^ bfence, dev_fence_id=63 ^ dfence,
            )  # fmt: skip
            row, preliminary, race, after = logic.decide(packet, entry, False, tag, *owner, *own)
            md = dict(unpack_entry(PARAMS, entry))
            expected_row, expected_race, expected_after = plain_words(packet, md, owner, own)
            assert (row.name, race.name) == (expected_row, expected_race or "NONE")
            assert unpack_entry(PARAMS, after) == expected_after
            assert preliminary == {
                "R1": Preliminary.BARRIER,
                "W1": Preliminary.BARRIER,
                "R2": Preliminary.PROGRAM_ORDER,
                "W2": Preliminary.PROGRAM_ORDER,
            }.get(expected_row, Preliminary.NONE)
            compared += 1
    assert compared == 56 * len(CHANGED) * len(FILTERS)


@pytest.mark.parametrize("kind", [PacketKind.LOAD, PacketKind.STORE, PacketKind.ATOMIC])
def test_fresh_entry_is_taken_whatever_it_holds(kind):
    rng = Random(f"fresh {kind}")
    logic = DetectionLogic(PARAMS)
    packet = Packet(kind, 0, 1, 5, 9, 200, LOCK_A, 0x40, 3)
    for entry in (FRESH_ENTRY, *(rng.getrandbits(58) for _ in range(50))):
        row, preliminary, race, after = logic.decide(packet, entry, True, 6, 1, 2, 3, 4)
        assert row == (Row.R1 if kind == PacketKind.LOAD else Row.W1)
        assert (preliminary, race) == (Preliminary.INITIALIZATION, RaceKind.NONE)
        assert unpack_entry(PARAMS, after) == {
            "filter": LOCK_A, "strong": 1, "scope": 0, "is_atom": int(kind == PacketKind.ATOMIC),
            "dev_shared": 0, "blk_shared": 0, "modified": int(kind != PacketKind.LOAD),
            "barrier_id": 200, "blk_fence_id": 3, "dev_fence_id": 4, "warp": 9, "block": 5,
            "tag": 6, "unused": 0,
        }  # fmt: skip


@pytest.mark.parametrize(
    "params",
    [
        ScordParams(sm_count=1, blocks_per_sm=1, warps_per_sm=1, ratio=1),
        ScordParams(sm_count=3, blocks_per_sm=5, warps_per_sm=9, fence_id_bits=2, ratio=64),
    ],
)
def test_other_field_widths(params):
    rng = Random(f"widths {params}")
    logic = DetectionLogic(params)
    widths = params.entry_layout.fields
    for _ in range(2000):
        md = {name: rng.getrandbits(width) if width else 0 for name, width in widths.items()}
        md["unused"] = 0
        if md["modified"] and md["blk_shared"]:
            md["dev_shared"] = 0
        kind = rng.choice((PacketKind.LOAD, PacketKind.STORE, PacketKind.ATOMIC))
        packet = Packet(
            kind, rng.getrandbits(1) if kind == PacketKind.ATOMIC else 0,
            1 if kind == PacketKind.ATOMIC else rng.getrandbits(1),
            md["block"] if rng.random() < 0.5 else rng.getrandbits(params.block_bits),
            rng.getrandbits(params.warp_bits),
            md["barrier_id"] if rng.random() < 0.7 else rng.getrandbits(8),
            rng.choice((0, LOCK_A)), 0, 0,
        )  # fmt: skip
        owner, own = (md["blk_fence_id"], rng.getrandbits(2)), (rng.getrandbits(2), 1)
        entry = pack_entry(params, **md)
        row, _, race, after = logic.decide(packet, entry, False, md["tag"], *owner, *own)
        expected = plain_words(packet, md, owner, own)
        assert (row.name, race.name) == (expected[0], expected[1] or "NONE")
        assert unpack_entry(params, after) == expected[2]
