"""Contents of a judgement: outcome, states, races, and what is refused."""

import re
from dataclasses import replace

import pytest

from racetrap.golden_model.ptx_memory_model.candidates import (
    Outcome,
    TooManyCandidatesError,
    judge,
)
from racetrap.golden_model.ptx_memory_model.litmus import LitmusError, parse_litmus, read_litmus
from racetrap.golden_model.ptx_memory_model.litmus.instructions import CtaBarrier
from racetrap.golden_model.ptx_memory_model.operational.exploration import MODELS, compare
from tests.support import REPOSITORY
from tests.support.ptx_memory_model.printer import print_litmus
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
    with pytest.raises(TooManyCandidatesError, match="more than 3 candidate"):
        judge(test, limit=3)


def test_a_test_whose_executions_wait_for_ever_is_refused():
    with pytest.raises(LitmusError, match="has no execution that ends"):
        _judge("barrier.sync 0, 64", "st.weak [x], 1", "exists (x = 1)", cta=0)


#: By their text: to parse all of them would take each process half a second.
_BARRIERS = [
    path
    for path in sorted((REPOSITORY / "docs" / "examples" / "litmus").glob("*.litmus"))
    if re.search(r"\bbar(rier)?(\.cta)?\.(sync|arrive|red)", path.read_text(encoding="utf-8"))
]


def _with_registers(test):
    """The same test, in which the operands of barriers are registers."""
    registers, threads = dict(test.registers), []
    for number, thread in enumerate(test.threads):
        instructions = []
        for place, instruction in enumerate(thread.instructions):
            operation = instruction.operation
            if isinstance(operation, CtaBarrier):
                operands = {"barrier": operation.barrier}
                if operation.count is not None:
                    operands["count"] = operation.count
                names = {name: f"%{name}{place}" for name in operands}
                registers |= {(number, names[name]): value for name, value in operands.items()}
                instruction = instruction._replace(operation=replace(operation, **names))
            instructions.append(instruction)
        threads.append(thread._replace(instructions=tuple(instructions)))
    return replace(test, registers=registers, threads=tuple(threads))


@pytest.mark.parametrize("path", _BARRIERS, ids=lambda path: path.stem)
def test_barriers_with_operands_in_registers(path):
    test = read_litmus(path)
    other = parse_litmus(print_litmus(_with_registers(test)))
    assert str(other.threads) != str(test.threads)
    found, wanted = judge(other), judge(test)
    assert (found.outcome, found.as_expected) == (wanted.outcome, wanted.as_expected)
    assert (found.states, found.executions) == (wanted.states, wanted.executions)
    for model in MODELS.values():
        outcomes = [
            compared and compared.exploration.outcomes.keys()
            for compared in (compare(found, model), compare(wanted, model))
        ]
        assert outcomes[0] == outcomes[1]


def test_operands_of_barriers_in_registers_are_checked():
    text = (
        "PTX name\n{{ x = 0; }}\n P0@cta 0 | P1@cta 0 ;\n {} | ;\n barrier.sync %b, %t | ;\n"
        "exists (true)\n"
    )
    for before, sentence in (
        ("mov.u32 %b, 99 | ;\n mov.u32 %t, 32", "Barrier must be from 0 to 15, not 99"),
        ("mov.u32 %b, 1 | ;\n mov.u32 %t, 33", "must be a multiple of 32, not 33"),
        ("ld.weak.u32 %b, [x] | ;\n mov.u32 %t, 32", "%b of a barrier depends on memory"),
        ("mov.u32 %t, 32", "Register %b is read but never written in its thread"),
    ):
        with pytest.raises(LitmusError, match=sentence):
            judge(parse_litmus(text.format(before)))
