"""Causes of races: what the suite of weak memory says is lacking is what is found to be missing."""

import pytest

from racetrap.golden_model.barracuda.race import Missing
from racetrap.sim.gpu.launch.capture import capture
from racetrap.sim.gpu.oracle import run_oracle
from racetrap.sim.gpu.suites.weak_memory.launches import launch_of
from racetrap.sim.gpu.suites.weak_memory.programs import PROGRAMS
from racetrap.sim.gpu.suites.weak_memory.runner import kernels_of
from racetrap.verdict.gpu.causes import causes_of

_MISSING = {
    "no_acquire": Missing.ACQUIRE, "no_release": Missing.RELEASE, "no_fence": Missing.RELEASE,
    "acquire_block": Missing.SCOPE, "release_block": Missing.SCOPE, "ordered_block": Missing.SCOPE,
}  # fmt: skip
#: The compiler's fence of another pattern makes these races be about something else.
_VARIANTS = [
    (program, variant)
    for program in (
        "dot_product", "octree", "reduction", "ticket_lock", "publication", "histogram",
    )
    for variant in _MISSING
    if variant in [each.name for each in PROGRAMS[program].variants]
    and (program, variant) != ("reduction", "no_acquire")
]  # fmt: skip


def causes(program, variant):
    """Causes of the races of a variant, and the line of each program counter."""
    suite = PROGRAMS[program]
    trace = capture(kernels_of(suite), launch_of(suite, suite.variant(variant))).trace
    races = run_oracle(trace, "causality").races
    return causes_of(trace, "causality", races, independent=False), trace.header.locations


@pytest.mark.parametrize(("program", "variant"), _VARIANTS)
def test_what_is_lacking_is_missing(program, variant):
    found, _ = causes(program, variant)
    assert {cause.missing for cause in found} == {_MISSING[variant]}
    for cause in found:
        assert cause.changes


def test_instructions_to_change():
    found, lines = causes("ticket_lock", "no_fence")
    # The relaxed load of the turn, and the relaxed store that hands it on.
    assert {tuple(lines[pc] for pc in cause.changes) for cause in found} == {
        ("common.cuh:15", "common.cuh:19")
    }


def test_a_fence_that_stands_too_late():
    found, lines = causes("scan", "no_f2")
    late = [lines[cause.fence] for cause in found if cause.fence]
    assert late == ["common.cuh:11"]
