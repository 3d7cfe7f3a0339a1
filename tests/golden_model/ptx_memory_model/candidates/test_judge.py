"""Contents of a judgement: outcome, states, races, and what is refused."""

import pytest

from racetrap.golden_model.ptx_memory_model.candidates import (
    Outcome,
    TooManyCandidatesError,
    judge,
)
from racetrap.golden_model.ptx_memory_model.litmus import LitmusError, parse_litmus
from tests.support.ptx_memory_model.shapes import fenced

_TEXT = """\
PTX name
{head}{{ x = 0; y = 0; .u64 z = 0; }}
 P0@cta 0 | P1@cta {cta} ;
 {first} | {second} ;
{condition}
"""


def _judge(first, second, condition, cta=1, head=""):
    values = {"first": first, "second": second, "condition": condition, "cta": cta, "head": head}
    return judge(parse_litmus(_TEXT.format(**values)))


@pytest.mark.parametrize(
    ("condition", "outcome", "as_expected"),
    [
        ("exists (1:%r = 1)", Outcome.ALLOWED, True),
        ("exists (1:%r = 2)", Outcome.FORBIDDEN, False),
        ("~exists (1:%r = 2)", Outcome.FORBIDDEN, True),
        ("~exists (1:%r = 1)", Outcome.ALLOWED, False),
        ("forall (x = 1)", Outcome.REQUIRED, True),
        ("forall (1:%r = 1)", Outcome.ALLOWED, False),
        ("exists (x = 1)", Outcome.REQUIRED, True),
    ],
)
def test_outcome_and_expectation(condition, outcome, as_expected):
    found = _judge("st.relaxed.gpu [x], 1", "ld.relaxed.gpu %r, [x]", condition)
    assert (found.outcome, found.as_expected) == (outcome, as_expected)


def test_no_claim_after_a_mixed_size_race():
    accesses = "st.relaxed.gpu.u64 [z], 1", "ld.relaxed.gpu.u32 %r, [z]"
    found = _judge(*accesses, "exists (1:%r = 1)")
    assert (found.outcome, found.as_expected) == (Outcome.NO_CLAIM, False)
    assert [race.is_mixed_size for race in found.races] == [True]
    assert _judge(*accesses, "exists (1:%r = 1)", head="Races=mixed-size\n").as_expected


def test_races_that_are_expected_must_be_there():
    accesses = "st.weak [x], 1", "ld.weak %r, [x]"
    for head, as_expected in (("Races=data\n", True), ("Races=none\n", False), ("", True)):
        assert _judge(*accesses, "exists (1:%r = 1)", head=head).as_expected is as_expected


def test_states_tell_weak_from_sequentially_consistent_ones():
    found = judge(fenced("SB", ["", ""]))
    states = {tuple(state.values.values()): state for state in found.states}
    assert len(states) == 4
    assert [values for values, state in states.items() if not state.sequentially_consistent] == [
        (0, 0)
    ]
    assert states[0, 0].meets_condition


def test_limit_of_candidates():
    test = fenced("IRIW", ["", ""])
    with pytest.raises(TooManyCandidatesError, match="at most 3 "):
        judge(test, limit=3)


def test_a_test_whose_executions_wait_for_ever_is_refused():
    with pytest.raises(LitmusError, match="must have an execution that ends"):
        _judge("barrier.sync 0, 64", "st.weak [x], 1", "exists (x = 1)", cta=0)
