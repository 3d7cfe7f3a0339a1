"""State bits of causality: the figures of its page, and that copies of rows are counted."""

from dataclasses import replace

import pytest

from racetrap.generators.causality import CAUSALITY
from racetrap.golden_model.causality.params import CausalityParams
from racetrap.golden_model.causality.state import bits_kept_once, bits_of_warp, state_bits
from tests.support import REPOSITORY

_KILOBYTE = 8 * 1024
_PRESETS = {**CAUSALITY.presets, **CAUSALITY.large_presets}


@pytest.mark.parametrize("name", ["causality", "causality-v100", "causality-a100"])
def test_the_page_has_the_sums(name):
    params = _PRESETS[name].params
    warp = bits_of_warp(params)
    row = [
        f"{params.sm_count * params.warps_per_sm:,}",
        f"{warp['rows']}, {warp['collector']:,}, {warp['warp_states']}",
        f"{bits_kept_once(params) / _KILOBYTE:,.0f} KB",
        f"{params.banks}",
        f"{sum(state_bits(params).values()) / _KILOBYTE:,.0f} KB",
    ]
    text = (REPOSITORY / "docs" / "causality.md").read_text(encoding="utf-8")
    (found,) = [line for line in text.splitlines() if f"(`{name}`) |" in line]
    assert [cell.strip() for cell in found.split("|")[2:-1]] == row


def test_a_v100_needs_less_than_a_megabyte():
    assert bits_kept_once(_PRESETS["causality-v100"].params) < 8 * 1_000_000


def test_only_rows_are_kept_by_each_bank():
    params = CausalityParams(banks=1)
    one, four = state_bits(params), state_bits(replace(params, banks=4))
    assert one.keys() == four.keys()
    assert {kind for kind in one if one[kind] != four[kind]} == {"rows", "collector"}
    assert four["rows"] == 4 * one["rows"]
    # A flag's report names the bank.
    assert four["collector"] - one["collector"] == 480 * 2
    assert bits_kept_once(params) < sum(one.values())


def test_lockstep_keeps_branches_instead_of_barriers():
    params = CausalityParams(records=4, levels=1)
    lockstep = replace(params, independent_threads=False)
    assert bits_of_warp(params)["rows"] - bits_of_warp(lockstep)["rows"] == 12 + 4 * 47 - 8 - 44
