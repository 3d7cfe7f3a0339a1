"""Unit splitter: which words it hands out, and when."""

import random

import pytest

from racetrap.golden_model.gpu.params import WORDS_PER_LINE
from racetrap.golden_model.scord.packets import Transaction, TransactionKind
from racetrap.golden_model.scord.params import ScordParams
from racetrap.golden_model.scord.tracker import granule_mask
from racetrap.rtl.scord.granule_splitter import GranuleSplitter, item_layout
from tests.support.rtl.ready_paths import valid_to_ready_paths
from tests.support.rtl.streams import get_all, monitor, put_all, random_idle, simulate

KIND = TransactionKind


def words_of(params, transaction):
    """(word, warp, lock bit) of each item of a transaction, from the definition."""
    kind, mask = transaction.kind, transaction.mask
    if kind in (KIND.FENCE, KIND.BARRIER):
        return [(0, transaction.warp, None)]
    if kind == KIND.BLOCK_START:
        warps = range(params.warps_per_sm)
        return [(0, warp, None) for warp in warps if transaction.warps >> warp & 1]
    if kind != KIND.ATOMIC:
        mask = granule_mask(mask, params.granularity)
    return [
        (
            transaction.line * WORDS_PER_LINE + number,
            transaction.warp,
            transaction.lock_mask >> number & 1,
        )
        for number in range(WORDS_PER_LINE)
        if mask >> number & 1
    ]


def random_transactions(params, rng, count):
    masks = [
        lambda: 0,
        lambda: 1 << rng.randrange(32),
        lambda: rng.getrandbits(32),
        lambda: rng.getrandbits(32) & rng.getrandbits(32) & rng.getrandbits(32),
        lambda: (1 << 32) - 1,
    ]
    return [
        Transaction(
            kind=rng.choice(list(KIND)),
            scope=rng.getrandbits(1),
            strong=rng.getrandbits(1),
            op=rng.randrange(3),
            slot=rng.randrange(params.blocks_per_sm),
            warp=rng.randrange(params.warps_per_sm),
            pc=rng.getrandbits(params.pc_bits),
            line=rng.getrandbits(params.address_bits - 7),
            mask=rng.choice(masks)(),
            lock_mask=rng.getrandbits(32),
        )
        for _ in range(count)
    ]


def split(params, transactions, *, seed=None):
    """Items of the transactions, and the cycles in which they left."""
    dut, left = GranuleSplitter(params), []
    count = sum(len(words_of(params, transaction)) for transaction in transactions)
    packed = [params.transaction_layout.pack(each._asdict()) for each in transactions]
    pauses = [{"idle": random_idle(f"{seed} {end}")} if seed else {} for end in ("put", "get")]
    simulate(
        dut,
        put_all(dut.i, packed, **pauses[0]),
        get_all(dut.o, count, [], **pauses[1]),
        background=[monitor(dut.o, left)],
    )
    layout = item_layout(params)
    return [layout.from_bits(word) for _, word in left], [cycle for cycle, _ in left]


@pytest.mark.parametrize("granularity", [4, 8, 16])
@pytest.mark.parametrize("warps", [1, 7, 8, 9, 32, 64])
def test_random_transactions(granularity, warps):
    params = ScordParams(granularity=granularity, warps_per_sm=warps)
    transactions = random_transactions(params, random.Random(granularity * warps), 80)
    items, _ = split(params, transactions, seed=f"{granularity} {warps}")
    expected = [
        (transaction, words)
        for transaction in transactions
        for words in words_of(params, transaction)
    ]
    for item, (transaction, (word, warp, lock)) in zip(items, expected, strict=True):
        assert (item.word, item.warp) == (word, warp)
        assert lock is None or item.lock == lock
        for name in ("kind", "scope", "strong", "op", "slot", "pc"):
            assert item[name] == getattr(transaction, name), name


def test_one_word_a_cycle_across_transactions():
    """An empty transaction costs one cycle only if nothing else is there to hand out."""
    masks = [1, 0b1010, 1 << 31, (1 << 32) - 1, 0, 0b11, 1, 1]
    transactions = [Transaction(KIND.STORE, mask=mask) for mask in masks]
    _, cycles = split(ScordParams(), transactions)
    words = sum(mask.bit_count() for mask in masks)
    empties = masks.count(0)
    assert cycles[0] == 1
    assert cycles[-1] - cycles[0] + 1 == words + empties


def test_no_path_from_valid_to_ready():
    assert valid_to_ready_paths(GranuleSplitter(ScordParams())) == []


@pytest.mark.parametrize("width", [1, 8])
@pytest.mark.parametrize("warps", [1, 9, 64])
def test_last_item_of_each_transaction(width, warps):
    """Of instances that count blocks: what is done once for a transaction comes with that."""
    params = ScordParams(
        warps_per_sm=warps, banks=width, words_per_cycle=width, slot_generation_bits=1
    )
    transactions = [
        each._replace(pc=number)
        for number, each in enumerate(random_transactions(params, random.Random(warps), 60))
        if width == 1 or each.kind == KIND.BLOCK_START
    ]
    items, _ = split(params, transactions, seed=f"{width} {warps}")
    numbers = [item.pc for item in items]
    last = [one != following for one, following in zip(numbers, [*numbers[1:], -1], strict=True)]
    assert [bool(item.is_last) for item in items] == last


def segments_of(params, transaction):
    """(first word, lanes) of each item of an access, from the definition."""
    width, granule = params.words_per_cycle, params.granularity // 4
    alone = transaction.kind == KIND.ATOMIC and (transaction.lock_mask or granule > 1)
    segments: dict[object, list[int]] = {}
    for word, _, _ in words_of(params, transaction):
        segments.setdefault(word if alone else word // (width * granule), []).append(word)
    return [
        (words[0], sum(1 << word // granule % width for word in words))
        for words in segments.values()
    ]


@pytest.mark.parametrize("granularity", [4, 16])
@pytest.mark.parametrize("width", [2, 4, 8])
def test_words_of_a_segment_come_together(width, granularity):
    params = ScordParams(banks=8, words_per_cycle=width, granularity=granularity)
    rng = random.Random(f"{width} {granularity}")
    transactions = [
        each._replace(lock_mask=rng.choice([0, each.lock_mask]))
        for each in random_transactions(params, rng, 120)
        if each.kind in (KIND.LOAD, KIND.STORE, KIND.ATOMIC)
    ]
    expected = [item for each in transactions for item in segments_of(params, each)]
    dut, left = GranuleSplitter(params), []
    packed = [params.transaction_layout.pack(each._asdict()) for each in transactions]
    simulate(
        dut,
        put_all(dut.i, packed),
        get_all(dut.o, len(expected), [], idle=random_idle(width)),
        background=[monitor(dut.o, left)],
    )
    items = [item_layout(params).from_bits(word) for _, word in left]
    assert [(item.word, item.lanes) for item in items] == expected
