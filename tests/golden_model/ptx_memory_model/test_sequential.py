"""Final states that only weak memory has, told from those of interleavings."""

import pytest

from racetrap.golden_model.ptx_memory_model.candidates import judge
from racetrap.golden_model.ptx_memory_model.litmus import read_litmus
from tests.support import REPOSITORY


@pytest.mark.parametrize(
    ("name", "weak"),
    [
        ("LB+ctrl", []),  # no location is written twice
        ("CoRR+relaxed", []),
        ("SB+relaxed", [(0, 0)]),
        ("MP+weak", [(1, 0)]),
        ("LB+relaxed", [(1, 1)]),
    ],
)
def test_weak_states_are_told_apart(name, weak):
    judged = judge(read_litmus(REPOSITORY / "docs" / "examples" / "litmus" / f"{name}.litmus"))
    assert [
        tuple(state.values.values()) for state in judged.states if not state.sequentially_consistent
    ] == weak
