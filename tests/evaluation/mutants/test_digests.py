"""Digests of cases, as they are kept."""

import pytest

from racetrap.evaluation.campaign.random_volume import Case, run_case
from racetrap.evaluation.mutants.digests import SEED, difference, kept_digest
from racetrap.generators.presets import find_preset
from racetrap.sim.cosim.fast.build import build_fast

#: A case of each preset that is short.
_SHORT = [("causality-tiny", 9)]


@pytest.mark.campaign
@pytest.mark.parametrize(("preset", "case"), _SHORT)
def test_a_case_has_the_digest_that_is_kept(preset, case):
    model = build_fast(preset, find_preset(preset).params)
    found = run_case(Case(model, SEED, case, has_coverage=False))
    assert found.difference == ""
    assert found.digest == kept_digest(preset, SEED, case)


def test_the_first_case_that_differs_is_named_with_what_to_keep():
    due = {case: kept_digest("causality-tiny", SEED, case) for case in (3, 0)}
    assert difference("causality-tiny", SEED, due) == ""
    text = difference("causality-tiny", SEED, due | {3: due[3] + 1})
    assert text.startswith("Case 3 of causality-tiny")
    assert str([due[0], due[3] + 1]) in text


def test_other_seeds_presets_and_cases_are_not_kept():
    assert kept_digest("causality-tiny", SEED + 1, 0) is None
    assert kept_digest("scord-wide", SEED, 0) is None
    assert difference("causality-tiny", SEED, {1000: 1}) == ""
