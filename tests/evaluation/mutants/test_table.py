"""Scores of blocks."""

import pytest

from racetrap.evaluation.mutants.table import EXPLAINED_FILE, explanations, wilson
from racetrap.generators.presets import PRESETS


@pytest.mark.parametrize(
    ("hits", "of", "low", "high"),
    # Ref: Newcombe (1998), Table I, method 3.
    [(81, 263, 0.2553, 0.3662), (15, 148, 0.0624, 0.1605), (0, 20, 0.0, 0.1611), (0, 0, 0, 1)],
)
def test_interval(hits, of, low, high):
    assert wilson(hits, of) == pytest.approx((low, high), abs=5e-4)


def test_reasons_are_of_presets_and_not_empty():
    assert EXPLAINED_FILE.exists()
    assert explanations().keys() <= PRESETS.keys()
    reasons = [reason for found in explanations().values() for reason in found.values()]
    assert [reason for reason in reasons if not reason.strip().endswith(".")] == []
