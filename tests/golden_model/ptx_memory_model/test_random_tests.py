"""Random tests with every construct: both transcriptions, and search and definition, agree."""

import pytest

from racetrap.golden_model.ptx_memory_model import violated_axioms
from racetrap.golden_model.ptx_memory_model.candidates import Search
from racetrap.golden_model.ptx_memory_model.candidates.final_state import final_states
from racetrap.golden_model.ptx_memory_model.candidates.runs import locations_of
from racetrap.golden_model.ptx_memory_model.litmus import parse_litmus
from racetrap.golden_model.ptx_memory_model.litmus.condition import observed_in
from tests.support.ptx_memory_model.comparison import answer_of
from tests.support.ptx_memory_model.plain_candidates import candidate_executions
from tests.support.ptx_memory_model.printer import print_litmus
from tests.support.ptx_memory_model.random_tests import random_litmus_test
from tests.support.ptx_memory_model.shapes import decorated
from tests.support.ptx_memory_model.solver import solve


@pytest.mark.parametrize("seed", [3, 161, 289, 477, 549, 562])
def test_second_transcription_says_the_same(seed):
    """Most seeds are those that once showed an error of one of both."""
    test = random_litmus_test(seed)
    assert answer_of(test) == solve(test)


@pytest.mark.parametrize("seed", range(40))
def test_a_printed_test_is_read_back_as_it_was(seed):
    text = print_litmus(random_litmus_test(seed))
    assert print_litmus(parse_litmus(text)) == text


def _states(test, found):
    observed = observed_in(test.condition)
    locations = locations_of(test.variables)
    return {
        tuple(state.values())
        for run, evaluation, execution in found
        for state in final_states(
            run, evaluation, execution.coherence_order, observed, locations
        )
    }  # fmt: skip


@pytest.mark.parametrize("name", ["MP", "SB", "LB", "R", "S", "2+2W", "WRC"])
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_search_finds_what_the_definition_has(name, seed):
    test = decorated(name, seed)
    plain = [
        (candidate.run, candidate.evaluation, candidate.execution)
        for candidate in candidate_executions(test)
        if not violated_axioms(candidate.execution)
    ]
    searched = [
        (consistent.run, consistent.evaluation, execution)
        for consistent in Search(test, 100_000)
        for execution in consistent.executions()
    ]
    assert len(plain) == len(searched) > 0
    assert _states(test, plain) == _states(test, searched)
