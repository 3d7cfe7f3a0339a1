"""Access buffer: what is left out, what never is, and what a run says of it."""

from collections import Counter

import pytest

from racetrap.golden_model.gpu.region import Region
from racetrap.golden_model.scord.access_buffer import AccessBuffer, is_sampled
from racetrap.golden_model.scord.packets import Transaction, TransactionKind
from racetrap.golden_model.scord.params import AccessPolicy, ScordParams
from racetrap.golden_model.scord.scord import Scord
from racetrap.sim.cosim.scord.knobs import KNOBS
from racetrap.sim.cosim.scord.random_events import random_events, transactions_of

KIND = TransactionKind
ALL_WORDS = (1 << 32) - 1
DROPPING = ScordParams(access_buffer_depth=4, access_policy="drop")
SAMPLING = ScordParams(access_buffer_depth=4, access_policy="sample", sample_log2=2)
#: All that orders accesses.
ORDER = [
    Transaction(KIND.FENCE, line=1),
    Transaction(KIND.BARRIER, line=1),
    Transaction(KIND.BLOCK_START, line=1, mask=1),
    Transaction(KIND.ATOMIC, line=1, mask=3, lock_mask=2),
]
ACCESSES = [Transaction(kind, line=1, mask=0b1111) for kind in (KIND.LOAD, KIND.STORE, KIND.ATOMIC)]


@pytest.mark.parametrize(
    ("settings", "rule"),
    [
        ({"access_policy": "loose"}, "choose stall, drop or sample"),
        ({"access_policy": "drop"}, "must be at least 1 with access_policy drop, not 0"),
        (
            {"access_policy": "sample", "access_buffer_depth": 2},
            "sample_log2 must be at least 1 with access_policy sample and 0 without, not 0 with",
        ),
        ({"sample_log2": 3}, "not 3 with stall"),
        ({"access_buffer_depth": 257}, "access_buffer_depth must be from 0 to 256, not 257"),
    ],
)
def test_settings_that_conflict(settings, rule):
    with pytest.raises(ValueError, match=rule):
        ScordParams(**settings)


@pytest.mark.parametrize("params", [DROPPING, SAMPLING], ids=lambda params: params.access_policy)
def test_what_orders_accesses_is_never_left_out(params):
    buffer = AccessBuffer(params)
    for transaction in ORDER:
        assert not buffer.takes(transaction, held=4)
        assert buffer.step(transaction, is_full=True)
    assert buffer.counters == {"accesses_left_out": 0}
    for transaction in ACCESSES:
        assert buffer.takes(transaction, held=4)
        assert not buffer.step(transaction, is_full=True)
    assert buffer.left_out == 12


def test_without_a_policy_everything_waits():
    buffer = AccessBuffer(ScordParams(access_buffer_depth=4))
    for transaction in (*ORDER, *ACCESSES):
        assert buffer.takes(transaction, held=3)
        assert not buffer.takes(transaction, held=4)
        assert buffer.step(transaction)
    assert buffer.counters == {}


def test_accesses_are_counted_as_the_banks_count_them():
    params = ScordParams(access_buffer_depth=1, access_policy="drop", granularity=16)
    buffer = AccessBuffer(params)
    for transaction in ACCESSES:
        buffer.step(transaction, is_full=True)
    assert buffer.left_out == 1 + 1 + 4  # granules, but of an atomic every word


@pytest.mark.parametrize("sample_log2", [1, 2, 3, 5])
@pytest.mark.parametrize("stride_log2", [0, 1, 4, 7, 20])
def test_one_line_of_some_is_sampled_at_any_stride(sample_log2, stride_log2):
    count = 1 << 10
    sampled = sum(is_sampled((0x12345 + n) << stride_log2, sample_log2) for n in range(count))
    assert sampled == pytest.approx(count >> sample_log2, rel=0.05)


def test_reports_on_sampled_lines_are_those_without_sampling():
    """Without shared entries the rest of the lines does not matter to a line."""
    every, some = (
        ScordParams(ratio=1, access_buffer_depth=1, access_policy=policy, sample_log2=sample)
        for policy, sample in ((AccessPolicy.STALL, 0), (AccessPolicy.SAMPLE, 1))
    )
    region = Region(size_log2=13)
    events = list(random_events(every, region, KNOBS["contended"], 5, 1500))
    races = []
    for params in (every, some):
        scord = Scord(params, region)
        for sm, transaction in transactions_of(events, params):
            scord.transact(sm, transaction)
        races.append(Counter((race.address, race.pc, race.race) for race in scord.races))
    sampled = {key: count for key, count in races[0].items() if is_sampled(key[0] >> 7, 1)}
    others = {key for key in races[1] if key not in sampled}
    assert 0 < len(sampled) < len(races[0])
    assert {key: races[1][key] for key in sampled} == sampled
    assert [key for key in others if is_sampled(key[0] >> 7, 1)] == []
    accesses, left_out = scord.counters["accesses"], scord.counters["accesses_left_out"]
    whole = Scord(every, region)
    for sm, transaction in transactions_of(events, every):
        whole.transact(sm, transaction)
    seen = whole.counters["accesses"] + whole.counters["unmonitored"]
    assert accesses + scord.counters["unmonitored"] + left_out == seen
