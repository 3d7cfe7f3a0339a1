"""Table of knowledge against the golden one: every rule of its places, its bits and its clock."""

import random
from collections import Counter
from itertools import product

import pytest
from amaranth.back import verilog

from racetrap.golden_model.causality.knowledge import Knowledge, Known
from racetrap.golden_model.causality.params import CausalityParams
from racetrap.rtl.causality.knowledge_table import KnowledgeTable
from tests.support.causality.records import table_values
from tests.support.planted_bugs import module_with
from tests.support.rtl.combinational import evaluate_all

_SMALL = CausalityParams(
    sm_count=2, blocks_per_sm=2, warps_per_sm=2, clock_bits=3, hash_bits=4, known=2
)
_FILE = "causality/knowledge_table.py"


def _known(params: CausalityParams, rng: random.Random) -> Known:
    sm, slot = rng.randrange(params.sm_count), rng.randrange(params.blocks_per_sm)
    block = params.block_id(sm, slot)
    # A slot's warps are often of one block, but need not be.
    warp = params.warp_id(sm, rng.randrange(params.warps_per_sm))
    clock = rng.randrange(min(8, params.last_clock)) or rng.randrange(params.last_clock)
    return Known(rng.choice((warp, warp, ~block)), block, clock, rng.random() < 0.3)


def _table(params: CausalityParams, rng: random.Random, places: int) -> Knowledge:
    table = Knowledge(params, places, Counter())
    for _ in range(rng.randrange(places + 3)):
        table.put(_known(params, rng))
    if rng.random() < 0.5:
        table.bits |= rng.getrandbits(params.hash_bits)
        table.lossy = rng.randrange(params.last_clock)
    table.fenced = rng.randrange(8)
    return table


def _check(params, places, cases, component=KnowledgeTable):
    """Each case is a table, how many places it has, what is added, and what is united with it."""
    layout = params.table_layout(places)
    inputs, due = [], []
    for table, usable, known, other in cases:
        bits, lossy, fenced = (other.bits, other.lossy, other.fenced) if other else (0, 0, 0)
        inputs.append({
            "i_table": layout.pack(table_values(params, table, places)),
            "i_usable": (1 << usable) - 1,
            "i_known": params.known_layout.pack(known.values(params)),
            "i_bits": bits, "i_lossy": lossy, "i_fenced": fenced,
        })  # fmt: skip
        before = table._counts["knowledge_evictions"]
        table.put(known)
        if other:
            other.exact = []
            table.join(other)
        due.append((
            layout.pack(table_values(params, table, places)),
            table._counts["knowledge_evictions"] - before,
        ))  # fmt: skip
    outputs = evaluate_all(component(params, places), inputs, ("o_table", "o_evicts"))
    for case, got, expected in zip(inputs, outputs, due, strict=True):
        assert got == expected, case


def _random_cases(params, places, rng, count):
    for _ in range(count):
        usable = rng.randint(0, places)
        other = _table(params, rng, 0) if rng.random() < 0.3 else None
        yield _table(params, rng, usable), usable, _known(params, rng), other


@pytest.mark.parametrize("places", [1, 2, 3, 4, 5])
def test_random_tables(places):
    for params in (_SMALL, CausalityParams(), CausalityParams(sm_count=80, hash_bits=1)):
        rng = random.Random(places)
        _check(params, places, _random_cases(params, places, rng, 250))


def test_every_table_of_two_places():
    """Two places with keys and clocks up to 3, half of the bits, and whatever is added."""
    params = _SMALL
    keys = ((0, 0), (1, 1), (~0, 0))
    entries = [Known(*key, clock, direct) for key in keys for clock in (1, 2)
               for direct in (False, True)]  # fmt: skip
    contents = [
        first
        for first in (
            [],
            *([one] for one in entries),
            *([*pair] for pair in product(entries, repeat=2)),
        )
        if len({known.key for known in first}) == len(first)
    ]

    def cases():
        for exact, known, (bits, lossy) in product(contents, entries, ((0, 0), (1, 2), (1, 3))):
            table = Knowledge(params, 2, Counter())
            table.exact, table.bits, table.lossy = list(exact), bits, lossy
            yield table, 2, known, None

    _check(params, 2, cases())


@pytest.mark.parametrize("settings", [
    {}, {"sm_count": 1, "blocks_per_sm": 1, "warps_per_sm": 1, "hash_bits": 1},
    {"sm_count": 3, "warps_per_sm": 7}, {"sm_count": 5, "warps_per_sm": 9},
    {"sm_count": 80, "warps_per_sm": 64, "blocks_per_sm": 32, "hash_bits": 1024},
])  # fmt: skip
def test_elaborates(settings):
    params = CausalityParams(**settings)
    assert "o_evicts" in verilog.convert(KnowledgeTable(params, 2))


_PLANTED = {
    "last of several gives way": ("(other < number)", "(other > number)"),
    "direct entry is skipped": ("(new.direct | ~covered)", "~covered"),
    "bits cover one clock more": ("(new.clock < table.lossy)", "(new.clock <= table.lossy)"),
    "clock of a key may shrink": ("& same[number] & is_more", "& same[number]"),
    "block and warp are one key": ("(place.is_block == new.is_block)\n            & ", ""),
    "place of another table": ("room.eq(self.i_usable & ~used)", "room.eq(~used)"),
    "newest gives way": ("(old < new.clock)", "(old != new.clock)"),
    "lossy is one less": ("[lossy, clock + 1]", "[lossy, clock]"),
    "evicted block is the new one": (
        "one_hot_select(oldest, bits)", "new_bit"
    ),
    "free place is known": ("(used & same).any()", "same.any()"),
}  # fmt: skip


@pytest.mark.parametrize("name", _PLANTED)
def test_planted_bug_is_found(name):
    module = module_with(_FILE, _PLANTED[name])
    cases = _random_cases(_SMALL, 2, random.Random(name), 600)
    with pytest.raises(AssertionError):
        _check(_SMALL, 2, cases, module.KnowledgeTable)
