"""Bins of causality's functional coverage: what is asked for, and what styles hit."""

from dataclasses import replace

import pytest

from racetrap.golden_model.causality.params import CausalityParams
from racetrap.golden_model.gpu.region import Region
from racetrap.sim.cosim.causality.coverage import Coverage
from racetrap.sim.cosim.causality.coverage_bins import BINS, FENCE_BINS, without_window
from racetrap.sim.cosim.causality.fast_compare import transactions_of
from racetrap.sim.cosim.causality.random_events import random_events
from racetrap.sim.cosim.causality.scoreboard import Scoreboard
from racetrap.sim.cosim.causality.styles import STYLES
from racetrap.sim.cosim.gpu.testbench_bins import TESTBENCH_BINS
from tests.support.causality.recorded_launch import RecordedLaunch, tell

_PARAMS = CausalityParams(
    sm_count=2, blocks_per_sm=2, warps_per_sm=4, clock_bits=5, hash_bits=8, known=1, levels=1,
    records=1, ratio=4, shared_bytes=256,
)  # fmt: skip
_REGION = Region(0x2000, 12)


def _covered(styles, params=_PARAMS, instructions=400, coverage=None):
    """Coverage of runs on the golden model."""
    coverage = coverage or Coverage(params)
    for number, style in enumerate(styles):
        events = random_events(params, _REGION, STYLES[style], number, instructions)
        program = transactions_of(events, params)
        device = RecordedLaunch(params, _REGION, read_errors={5})
        device.play(program)
        coverage.launch(_REGION)
        board = Scoreboard(params, _REGION, coverage)
        for sm, transaction in program:
            board.transaction(sm, transaction)
        tell(board, device.seen)
        for record in device.records:
            board.report(record.record())
        board.finish(device.totals(), device.entry, 1)
    return coverage


def test_all_styles_together_hit_every_bin_but_a_testbenchs():
    missed = set(_covered([*STYLES] * 2).missed)
    assert missed <= {*TESTBENCH_BINS, *FENCE_BINS}


@pytest.mark.parametrize(
    ("style", "names"),
    [
        ("flags", {"undecided.read", "undecided.write_after_reader", "race.late"}),
        ("lanes", {"warp_barrier.tile", "branch.too_deep", "race.warp_barrier"}),
        ("partial", {"partial_barrier.all", "partial_barrier.some", "partial_barrier.none"}),
        ("chains", {"took_on", "met.other_block", "message.goes_on", "before.handed"}),
        ("slots", {"shared.monitored", "race.barrier"}),
        ("fence-order", {"before.fenced.others", "before.fenced.device", "message.behind_a_fence"}),
        ("sizes", {"joined", "handed_over", "message.ended"}),
    ],
)
def test_a_style_hits_what_it_is_for(style, names):
    assert names <= _covered([style]).counts.keys() <= BINS.keys()


def test_window_is_not_asked_for_where_there_is_none():
    params = replace(_PARAMS, shared_bytes=0)
    coverage = _covered(["mixed"], params)
    assert without_window().keys() <= BINS.keys()
    assert not without_window().keys() & {*coverage.missed, *coverage.counts}
