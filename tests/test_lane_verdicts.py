"""Verdicts in lockstep and independent: what changes, and what does not."""

import pytest

from tests.lane_verdicts import SUITES, changes


@pytest.mark.parametrize(
    ("suite", "changed"),
    [
        (
            "small kernels",
            {
                "lockstep_neighbour": ("race-free", "divergence"),
                "barrier_half_warp": ("barrier divergence", "race-free"),
                "transpose_2d_nothing": ("intra-block", "divergence, intra-block"),
            },
        ),
        (
            "constructs",
            {
                "syncwarp_missing": ("race-free", "divergence"),
                "lane_lock_release": ("does not end", "race-free"),
            },
        ),
    ],
)
def test_what_changes_from_lockstep_to_independent_lanes(suite, changed):
    alike = {"constructs": "syncwarp", "small kernels": "shared_exchange_nothing"}[suite]
    subjects = [each for each in SUITES[suite]() if each.name in {*changed, alike}]
    assert len(subjects) == len(changed) + 1
    counts, lines = changes(subjects)
    assert set(lines) == {f"{name}: {old} -> {new}" for name, (old, new) in changed.items()}
    assert counts.total() == len(subjects)
