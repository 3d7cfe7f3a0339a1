"""The decision tables against the paper, and what a bank remembers of them."""

from itertools import product
from random import Random

import pytest

from racetrap.golden_model.events import Scope
from racetrap.golden_model.scord.detection_logic import (
    LOAD_TABLE,
    STORE_TABLE,
    Encounter,
    decide,
)
from racetrap.golden_model.scord.detector_bank import decide_packed
from racetrap.golden_model.scord.metadata import UNINITIALISED_ENTRY, pack_entry, unpack_entry
from racetrap.golden_model.scord.packets import Packet, PacketKind, Preliminary, RaceKind, TableRow
from racetrap.golden_model.scord.params import ScordParams

PARAMS = ScordParams()
LOCK_A, LOCK_B = 0x0101, 0x0202
#: Only one bin in use: holds no key, and is so "empty".
HALF = 0x0001


def check(params, encounter):
    """Compare decisions on packed entries, maybe remembered, with those of the tables; the rule."""
    rule, after = decide(encounter)
    packet, md, is_uninitialised, tag, owner, own = vars(encounter).values()
    entry = pack_entry(params, **md)
    packed = decide_packed(
        params.entry_layout, packet[:7], packet.generation, tag, *own,
        *(() if is_uninitialised else (entry, *owner)),
    )  # fmt: skip
    condition = rule.condition
    assert packed[:3] == (rule.row, condition.preliminary, condition.race), encounter
    assert unpack_entry(params, packed[3]) == after, encounter
    if condition.scope is not None:
        blocks = {(packet.block, packet.generation), (md["block"], md["generation"])}
        assert condition.scope == Scope(len(blocks) - 1)
    return rule


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
    block, warp = PARTIES[party]
    owner, own, tag = (20, 63), (7, 8), 11
    reached, compared = set(), 0
    for flags in product((0, 1), repeat=len(FLAGS)):
        named = dict(zip(FLAGS, flags, strict=True))
        if named["modified"] and named["blk_shared"] and named["dev_shared"]:
            continue  # uninitialised
        for (barrier, bfence, dfence), (locks, own_locks) in product(CHANGED, FILTERS):
            packet = Packet(kind, scope, strong, 5, 9, 200, own_locks, 0, 0)
            md = unpack_entry(PARAMS, 0) | named | {
                "filter": locks, "tag": tag, "block": block, "warp": warp,
                "barrier_id": 200 ^ barrier,
                "blk_fence_id": 20 ^ bfence, "dev_fence_id": 63 ^ dfence,
            }  # fmt: skip
            reached.add(check(PARAMS, Encounter(packet, md, False, tag, owner, own)))
            compared += 1
    assert compared == 56 * len(CHANGED) * len(FILTERS)
    assert reached <= set(LOAD_TABLE if kind == PacketKind.LOAD else STORE_TABLE)


def test_every_rule_of_the_tables_is_reached():
    rng = Random("rules")
    reached = {check(PARAMS, random_encounter(PARAMS, rng)) for _ in range(4000)}
    assert reached == {*LOAD_TABLE, *STORE_TABLE}


def test_rows_stand_in_order_and_lead_to_the_conditions_of_the_paper():
    """Tables III and IV: which conditions a load and a store can meet."""
    loads, stores = (
        [f"{rule.condition.table}{rule.condition.letter}" for rule in table]
        for table in (LOAD_TABLE, STORE_TABLE)
    )
    first = ["IIIa", "IIIc", "IIIb", "IVd"]
    assert loads == [*first, "IVa", "IVb", "IVc", "", "", "IVe", ""]
    assert stores == [*first, "", "IVa", "IVb", "IVc", "", "IVf", ""]
    rows = list(dict.fromkeys(rule.row for rule in (*LOAD_TABLE, *STORE_TABLE)))
    assert [TableRow.NONE, *rows, TableRow.FENCE, TableRow.UNMONITORED] == list(TableRow)


@pytest.mark.parametrize("kind", [PacketKind.LOAD, PacketKind.STORE, PacketKind.ATOMIC])
def test_uninitialised_entry_is_taken_whatever_it_holds(kind):
    rng = Random(f"uninitialised {kind}")
    packet = Packet(kind, 0, 1, 5, 9, 200, LOCK_A, 0x40, 3)
    for entry in (UNINITIALISED_ENTRY, *(rng.getrandbits(58) for _ in range(50))):
        md = unpack_entry(PARAMS, entry)
        encounter = Encounter(packet, md, True, 6, (1, 2), (3, 4))
        rule = check(PARAMS, encounter)
        assert rule.row == (
            TableRow.LOAD_FIRST if kind == PacketKind.LOAD else TableRow.STORE_FIRST
        )
        assert rule.condition.preliminary == Preliminary.INITIALIZATION
        assert rule.condition.race == RaceKind.NONE
        assert decide(encounter)[1] == {
            "filter": LOCK_A, "strong": 1, "scope": 0, "is_atom": int(kind == PacketKind.ATOMIC),
            "dev_shared": 0, "blk_shared": 0, "modified": int(kind != PacketKind.LOAD),
            "barrier_id": 200, "blk_fence_id": 3, "dev_fence_id": 4, "warp": 9, "block": 5,
            "tag": 6, "generation": 0, "unused": 0,
        }  # fmt: skip


def random_encounter(params, rng):
    """Random bits; the owner is often the accessor, or near it."""
    widths = params.entry_layout.fields
    md = {name: rng.getrandbits(width) if width else 0 for name, width in widths.items()}
    md["unused"] = 0
    if md["modified"] and md["blk_shared"]:
        md["dev_shared"] = 0
    kind = rng.choice((PacketKind.LOAD, PacketKind.STORE, PacketKind.ATOMIC))
    md["filter"] = rng.choice((0, LOCK_A, LOCK_B, md["filter"]))
    packet = Packet(
        kind, rng.getrandbits(1) if kind == PacketKind.ATOMIC else 0,
        1 if kind == PacketKind.ATOMIC else rng.getrandbits(1),
        md["block"] if rng.random() < 0.5 else rng.getrandbits(params.block_bits),
        md["warp"] if rng.random() < 0.5 else rng.getrandbits(params.warp_bits),
        md["barrier_id"] if rng.random() < 0.7 else rng.getrandbits(params.barrier_id_bits),
        rng.choice((0, LOCK_A)), 0, 0,
        rng.choice((md["generation"], rng.getrandbits(params.slot_generation_bits))),
    )  # fmt: skip
    owner = tuple(
        md[name] if rng.random() < 0.5 else rng.getrandbits(params.fence_id_bits)
        for name in ("blk_fence_id", "dev_fence_id")
    )
    own = rng.getrandbits(params.fence_id_bits), rng.getrandbits(params.fence_id_bits)
    return Encounter(packet, md, rng.random() < 0.05, md["tag"], owner, own)


@pytest.mark.parametrize(
    "params",
    [
        ScordParams(sm_count=1, blocks_per_sm=1, warps_per_sm=1, ratio=1),
        ScordParams(sm_count=3, blocks_per_sm=5, warps_per_sm=9, fence_id_bits=2, ratio=64),
        ScordParams(slot_generation_bits=6),
        ScordParams(sm_count=2, blocks_per_sm=2, slot_generation_bits=1),
    ],
)
def test_other_field_widths(params):
    rng = Random(f"widths {params}")
    for _ in range(2000):
        check(params, random_encounter(params, rng))
