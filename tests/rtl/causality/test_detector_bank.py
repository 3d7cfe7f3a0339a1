"""Detector bank step by step and notice by notice against the golden bank."""

import itertools
import random

import pytest

from racetrap.golden_model.causality.params import CausalityParams
from tests.support.campaign import later_but
from tests.support.causality.bank_bench import CausalityBankBench, Fence, RandomItems
from tests.support.rtl.metadata_memory import MemoryKnobs
from tests.support.scord.bank_packets import a_region

_SIZE = {
    "sm_count": 2, "blocks_per_sm": 2, "warps_per_sm": 4, "ratio": 4, "outstanding": 8,
    "address_bits": 24, "shared_bytes": 128,
}  # fmt: skip
TINY = CausalityParams(**_SIZE)
MEMORIES = {
    "at-once": MemoryKnobs(),
    "slow": MemoryKnobs(read_latency=(9, 9), write_latency=(5, 5)),
    "reordering": MemoryKnobs(read_latency=(0, 20), write_latency=(0, 10), reorder=0.7),
    "back-pressure": MemoryKnobs(read_latency=(0, 3), write_latency=(0, 3), ready=0.3),
    "errors": MemoryKnobs(
        read_latency=(0, 8), write_latency=(0, 8), reorder=0.5, read_error=0.2, write_error=0.2
    ),
}


def run(params, seed, count=300, *, memory="reordering", entries=3, **knobs):
    """Random items; the bench with what came of them, and the golden steps."""
    rng = random.Random(seed)
    region = a_region(params, metadata_base=0x1240)
    made = RandomItems(params, region, rng, entries)
    items = made.make(count // 3)
    items += [Fence(), *made.make(count // 3), made.new_epoch(), *made.make(count // 3)]
    bench = CausalityBankBench(params, region, knobs=MEMORIES[memory], seed=seed, **knobs)
    return bench, bench.run(items)


@pytest.mark.parametrize(
    ("memory", "entries"),
    later_but(
        {("reordering", 3), ("errors", 3), ("at-once", 1)}.__contains__,
        itertools.product(MEMORIES, (1, 3, 12)),
    ),
)
def test_random_items(memory, entries):
    bench, steps = run(TINY, f"{memory} {entries}", memory=memory, entries=entries)
    assert {step.monitored for step in steps} == {0, 1}
    assert len(bench.reports) > 20
    assert (bench.counts["metadata_write_errors"] > 0) == (memory == "errors")
