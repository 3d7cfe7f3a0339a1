"""Litmus tests of the documentation: outcomes derived by hand, each with its reason."""

from collections import Counter

import pytest

from racetrap.golden_model.ptx_memory_model.candidates import judge
from racetrap.golden_model.ptx_memory_model.litmus import read_litmus
from racetrap.golden_model.ptx_memory_model.litmus.condition import Quantifier
from tests.support import REPOSITORY
from tests.support.campaign import one_in
from tests.support.ptx_memory_model.comparison import answer_of
from tests.support.ptx_memory_model.solver import solve

FILES = sorted((REPOSITORY / "docs" / "examples" / "litmus").glob("*.litmus"))


@pytest.mark.parametrize("file", one_in(3, FILES), ids=lambda file: file.stem)
def test_outcome_is_as_derived(file):
    test = read_litmus(file)
    assert test.name == file.stem
    assert len(test.reason.split()) >= 4
    assert judge(test).as_expected
    assert answer_of(test) == solve(test)


def test_enough_are_forbidden_and_enough_are_allowed():
    kinds = Counter(read_litmus(file).quantifier for file in FILES)
    assert len(FILES) >= 100
    assert kinds[Quantifier.EXISTS] >= 50
    assert kinds[Quantifier.NOT_EXISTS] >= 50
