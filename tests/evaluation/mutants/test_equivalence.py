"""Proofs that mutants are equivalent, on a small design."""

import re

import pytest

from racetrap.evaluation.mutants import equivalence
from racetrap.evaluation.mutants.equivalence import (
    _INSTANCE,
    BY_STRUCTURE,
    FAST_PROOFS,
    SLOW_PROOFS,
    holds,
)
from racetrap.sim.cosim.verilator.mutants import MutantDraw, module_texts, read_mutants
from tests.support.mutants import make_small

_NONE = "no proof"


@pytest.fixture(scope="module")
def small(tmp_path_factory):
    folder = tmp_path_factory.mktemp("small")
    make_small(folder, MutantDraw(count=200))
    return folder


def _chosen(folder, block, pattern):
    """The first mutant of a block whose change has a form."""
    return next(
        mutant
        for mutant in read_mutants(folder)
        if mutant.block == block and re.search(pattern, mutant.change)
    )


@pytest.mark.parametrize(
    ("block", "pattern", "how"),
    [
        ("logic", r"B\[0\] of or is 0", "in every state"),
        ("logic", r"Y\[0\] of and o inverted", _NONE),
        ("counter", r"D\[0\] of dff count inverted", _NONE),
        # `high` is never 1, which no single state says.
        ("counter", r"D\[0\] of dff high is 0", "block's registers"),
        # What enters the blocks inside must be the same.
        ("system", r"i\[0\] of counter is 1", _NONE),
    ],
)
def test_proof(small, block, pattern, how):
    mutant = _chosen(small, block, pattern)
    proofs = (*FAST_PROOFS, *SLOW_PROOFS)
    found = (each.says for each in proofs if holds(small, mutant, each, 20))
    assert how in next(found, _NONE)


@pytest.mark.parametrize(
    ("block", "pattern", "proof"),
    [
        ("system", r"spare\[0\] of counter is 1", 0),
        ("system", r"i\[0\] of counter is 1", None),
        # `high` and the output's bit 2 are never 1, the other bits are sometimes.
        ("counter", r"D\[0\] of dff high is 0", 1),
        ("counter", r"Y\[0\] of and o \[2\] is 1", None),
        ("counter", r"D\[0\] of dff high inverted$", None),
        ("system", r"o\[\d\] of counter inverted where bit 2 is 1", 1),
        ("system", r"o\[\d\] of counter inverted where bit 2 is 0", None),
        ("system", r"o\[\d\] of counter inverted where bit 1 is 0", None),
    ],
)
def test_what_structure_alone_says(small, block, pattern, proof):
    mutant = _chosen(small, block, pattern)
    due = [proof == number for number in range(len(BY_STRUCTURE))]
    assert [holds(small, mutant, each, 20) for each in BY_STRUCTURE] == due


def test_a_block_that_stands_twice_is_not_proved_in_the_one_around_it(small, monkeypatch):
    mutant, proof = _chosen(small, "logic", r"B\[0\] of or is 0"), SLOW_PROOFS[0]
    assert proof.around
    assert holds(small, mutant, proof, 20)
    modules = module_texts(small)
    (found,) = (each for each in _INSTANCE.finditer(modules["small"]) if each[1] == "small_logic")
    twice = modules | {"small": modules["small"] + found[0] + "\n"}
    monkeypatch.setattr(equivalence, "module_texts", lambda folder: twice)
    assert not holds(small, mutant, proof, 20)
