"""Classic shapes: each fence is needed at its scope and kind, and both transcriptions agree on
400 mixes of strength, scope, fence and place."""

import pytest

from racetrap.golden_model.ptx_memory_model.candidates import Outcome, judge
from tests.support.campaign import later_but
from tests.support.ptx_memory_model.comparison import answer_of
from tests.support.ptx_memory_model.shapes import SHAPES, decorated, fenced
from tests.support.ptx_memory_model.solver import solve

_OPCODES = {"A": "fence.acq_rel.gpu", "S": "fence.sc.gpu"}


@pytest.mark.parametrize("name", SHAPES)
def test_each_fence_left_out_narrowed_or_weakened_flips_the_outcome(name):
    fences = [_OPCODES[kind] for kind in SHAPES[name].fences]
    assert judge(fenced(name, fences)).outcome is Outcome.FORBIDDEN
    for number, fence in enumerate(fences):
        weaker = {"", fence.replace(".gpu", ".cta"), fence.replace(".sc", ".acq_rel")} - {fence}
        for other in sorted(weaker):
            changed = [*fences[:number], other, *fences[number + 1 :]]
            assert judge(fenced(name, changed)).outcome is Outcome.ALLOWED, changed


@pytest.mark.parametrize("seeds", later_but(range(6).__eq__, [range(6), range(6, 20)]), ids=str)
@pytest.mark.parametrize("name", SHAPES)
def test_second_transcription_says_the_same(name, seeds):
    tests = [decorated(name, seed) for seed in seeds]
    different = [test.name for test in tests if answer_of(test) != solve(test)]
    assert not different
