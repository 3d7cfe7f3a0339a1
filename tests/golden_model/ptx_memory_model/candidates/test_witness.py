"""Witnesses: operations, edges, and what contradicts the axioms."""

import pytest

from racetrap.golden_model.ptx_memory_model.candidates import EdgeKind, judge, witness_of
from racetrap.golden_model.ptx_memory_model.litmus import read_litmus
from tests.support import REPOSITORY

_FOLDER = REPOSITORY / "docs" / "examples" / "litmus"


def _witness(name):
    return witness_of(judge(read_litmus(_FOLDER / f"{name}.litmus")).witness)


def test_an_allowed_outcome_has_a_consistent_execution():
    witness = _witness("SB+relaxed")
    assert witness.contradictions == ()
    assert [(node.name, node.thread, node.value) for node in witness.nodes] == [
        ("x=0", -1, "0"), ("y=0", -1, "0"), ("a", 0, "1"), ("b", 0, "0"), ("c", 1, "1"),
        ("d", 1, "0"),
    ]  # fmt: skip
    assert {tuple(edge) for edge in witness.edges} == {
        (EdgeKind.READS_FROM, "y=0", "b"), (EdgeKind.READS_FROM, "x=0", "d"),
        (EdgeKind.FROM_READS, "b", "c"), (EdgeKind.FROM_READS, "d", "a"),
    }  # fmt: skip


@pytest.mark.parametrize(
    ("name", "axiom", "parts"),
    [
        ("MP+rel+acq", "Causality", ["a po b sw c po d", "older than a"]),
        ("SB+sc+sc", "Causality", [" sc ", "older than"]),
        ("WRC+rlx+rel+acq", "Causality", ["is observed by"]),
        ("CoWW+rel+acq", "Coherence", ["not in coherence order"]),
        ("LB+data", "No-Thin-Air", ["depend on themselves"]),
        ("Add+relaxed-store", "Atomicity", ["comes between"]),
        ("Exch+Exch", "SC-per-Location", ["a rf b rf a"]),
        ("Bar+sync", "Causality", [" bar "]),
        ("Async+wait-all", "Causality", [" async "]),
    ],
)
def test_a_forbidden_outcome_names_the_axiom_that_forbids_it(name, axiom, parts):
    found = {one.axiom: one.sentence for one in _witness(name).contradictions}
    for part in parts:
        assert part in found[axiom]
