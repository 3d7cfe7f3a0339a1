"""Witnesses of races: each kind is seen where it is, and none where there is no race."""

import pytest

from racetrap.evaluation.barracuda import witnesses
from racetrap.evaluation.barracuda.witnesses import WitnessRun, find_witnesses
from racetrap.sim.gpu.suites.concurrency.cases import CASES

#: A kernel for each kind of witness, and race-free ones that are near to it.
_EXPECTED = {
    "stencil_over_blocks": "both ready",
    "atomics_blocks_block": "both ready", "branch_write_read": "both sides",
    "warp_different_values_shared": "one instruction", "barrier_in_each_branch": "barrier",
    "message_blocks_block_device": "weak memory",
    "global_exchange_barrier": "", "atomics_blocks_device": "", "branch_reconverged": "",
    "warp_same_value_shared": "",
}  # fmt: skip


def _witnesses(name, schedules=0, weak=3):
    return find_witnesses(WitnessRun(CASES[name], schedules, weak, 1))


@pytest.mark.parametrize("name", _EXPECTED)
def test_kinds_of_witness(name):
    found, expected = _witnesses(name), _EXPECTED[name]
    assert expected in found if expected else found == ()


def test_an_outcome_seen_once_says_nothing_of_weak_memory(monkeypatch):
    """Other schedules may have the outcome that weak memory has."""
    monkeypatch.setattr(witnesses, "_has_weak_outcome", lambda *_: True)
    assert _witnesses("message_blocks_device_device") == ("weak memory",)
    monkeypatch.setattr(witnesses, "run_case", lambda case, device: (object(),))
    assert _witnesses("message_blocks_device_device") == ()


@pytest.mark.campaign
@pytest.mark.parametrize("name", CASES)
def test_every_racy_kernel_has_a_witness_and_no_other(name):
    assert bool(_witnesses(name, 24, 20)) == CASES[name].is_racy
