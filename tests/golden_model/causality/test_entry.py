"""Entries as they lie in memory."""

from random import Random

import pytest

from racetrap.golden_model.causality.causality import Causality
from racetrap.golden_model.causality.entry import Entry, Side, unpack_entry
from racetrap.golden_model.causality.params import CausalityParams
from racetrap.verdict.gpu.fit import region_with_window
from tests.support.causality.judged import params_for
from tests.support.causality.random_programs import RandomProgram

COUNTS = [1, 3, 4, 5]


def random_side(params: CausalityParams, rng: Random, *, writer: bool) -> Side:
    sm = rng.randrange(params.sm_count)
    warp = params.warp_id(sm, rng.randrange(params.warps_per_sm))
    block = params.block_id(sm, rng.randrange(params.blocks_per_sm))
    flags = [rng.randrange(2) for _ in range(8)]
    return Side(
        warp, block, rng.randrange(1 << params.clock_bits), rng.randrange(32), flags[0],
        rng.randrange(1, 16), *flags[1:5], rng.randrange(8), rng.randrange(5),
        *((*flags[4:], rng.randrange(16)) if writer else ()),
    )  # fmt: skip


@pytest.mark.parametrize("ratio", [1, 2, 32, 64])
@pytest.mark.parametrize("count", COUNTS)
def test_entry_comes_back_from_memory(count, ratio):
    params = CausalityParams(
        sm_count=count, blocks_per_sm=count, warps_per_sm=count, ratio=ratio, clock_bits=3 + count
    )
    rng = Random(count)
    for turn in range(40):
        entry = Entry(
            rng.randrange(1 << params.epoch_bits), rng.randrange(ratio), rng.randrange(2),
            rng.randrange(2), rng.randrange(3), rng.randrange(16), rng.randrange(2),
            random_side(params, rng, writer=True) if turn % 4 % 3 else None,
            random_side(params, rng, writer=False) if turn % 2 else None,
        )  # fmt: skip
        packed = entry.pack(params)
        assert packed >> params.entry_bits == 0
        assert unpack_entry(params, packed) == entry


def test_empty_entry_is_what_memory_holds_at_launch():
    params = CausalityParams()
    assert Entry().pack(params) == params.uninitialised_entry == 0
    assert unpack_entry(params, 0) == Entry()


@pytest.mark.parametrize("clock_bits", [3, 4, 12])
def test_all_that_banks_leave_fits_in_memory(clock_bits):
    """Clocks, too: one that had wrapped would not come back."""
    for seed in range(6):
        trace = RandomProgram(seed).trace()
        params = params_for(trace, clock_bits=clock_bits, ratio=64)
        model = Causality(params, region_with_window(trace, params))
        for event in trace:
            for step in model.run(event):
                assert unpack_entry(params, step.after.pack(params)) == step.after
