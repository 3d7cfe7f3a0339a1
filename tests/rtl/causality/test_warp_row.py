"""Branches and warp barriers of a row, and rows that packets close behind each other find, against
the golden model."""

import pytest

from racetrap.golden_model.causality.params import CausalityParams
from racetrap.sim.cosim.verilator.patch import Patch
from tests.support.campaign import later_but
from tests.support.causality.branch_bench import compare
from tests.support.causality.encounter_bench import rtl_of
from tests.support.causality.rows_bench import RowsBench

_LOCKSTEP = {"independent_threads": False}


@pytest.mark.parametrize(
    "settings",
    later_but(
        lambda settings: len(settings) != 1 or "records" not in settings,
        [
            {}, {"records": 0}, {"records": 1}, {"records": 3},
            _LOCKSTEP, _LOCKSTEP | {"levels": 0}, _LOCKSTEP | {"levels": 3},
        ],
    ),
    ids=str,
)  # fmt: skip
def test_random_changes(settings):
    compare(CausalityParams(sm_count=2, **settings), str(settings), 60, rtl_of())


@pytest.mark.parametrize("settings", [{}, {"records": 1}, _LOCKSTEP], ids=str)
def test_each_packet_finds_what_those_before_it_left(settings):
    params = CausalityParams(sm_count=2, blocks_per_sm=2, warps_per_sm=4, clock_bits=4, **settings)
    bench = RowsBench(params, str(settings))
    bench.run(600)
    assert bench.answers > 300


BUGS = {
    "record-joins-another-tile": (
        {},
        Patch("causality/warp_row.py", "joined[place].eq(is_same)", "joined[place].eq(is_larger)"),
    ),
    "record-keeps-its-tile": (
        {}, Patch("causality/warp_row.py", "Mux(met[place], 0, old.tile)", "old.tile"),
    ),
    "no-room-is-made": (
        {}, Patch("causality/warp_row.py", "is_apart & ~free.any()", "0"),
    ),
    "whole-warp-is-a-record": (
        {}, Patch("causality/warp_row.py", "self.i_tile == WHOLE_WARP", "0"),
    ),
    "group-that-is-not-aligned": (
        {}, Patch("causality/access.py", "Mux(low_free, high, 0)", "high"),
    ),
    "other-side-of-a-branch-runs-all-lanes": (
        _LOCKSTEP, Patch("causality/warp_row.py", "active & ~now", "active"),
    ),
    "branch-ends-twice": (
        _LOCKSTEP, Patch("causality/warp_row.py", "depth - depth.any()", "depth - 1"),
    ),
}  # fmt: skip


@pytest.mark.parametrize("bug", later_but({"record-keeps-its-tile"}.__contains__, BUGS))
def test_bug_is_found(bug):
    settings, patch = BUGS[bug]
    with pytest.raises(AssertionError, match="row of"):
        compare(CausalityParams(sm_count=2, **settings), bug, 3000, rtl_of(patch))
