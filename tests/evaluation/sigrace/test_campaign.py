"""Random cases agree with the golden model, can be repeated, and differences are told."""

import pytest

from racetrap.evaluation.campaign.random_volume import Case, run_case
from racetrap.evaluation.sigrace import campaign
from racetrap.sim.cosim.sigrace.fast_simulation import FastSim
from racetrap.sim.cosim.sigrace.knobs import KNOBS
from racetrap.sim.cosim.sigrace.rdm_software import RdmSoftware


@pytest.fixture
def small(monkeypatch):
    """Cases of about a thousand events."""
    monkeypatch.setattr(campaign, "_ACTIONS", (600, 300, 100))


@pytest.mark.parametrize("number", range(2 * len(KNOBS)))
def test_case_agrees_and_can_be_repeated(sigrace_tiny, small, number):
    case = Case(sigrace_tiny, 1, number)
    first, again = run_case(case), run_case(case)
    assert first.difference == ""
    assert first.volume == first.counts["events"] > 1000
    assert first.counts.keys() == {"events", "messages", "conflicts", "cycles"}
    assert first.counts == again.counts


@pytest.mark.parametrize(
    ("kind", "method", "sentence"),
    [
        (FastSim, "core_words", "steps missing"),
        (FastSim, "rdm_steps", "message missing"),
        (RdmSoftware, "log", "Conflict log must have"),
    ],
)
def test_difference_is_a_result(sigrace_tiny, small, monkeypatch, kind, method, sentence):
    real = getattr(kind, method)
    monkeypatch.setattr(kind, method, lambda self, *arguments: real(self, *arguments)[:0])
    assert sentence in run_case(Case(sigrace_tiny, 1, 0)).difference


def _flip(monkeypatch, bit):
    """Let the hardware's fifth step of each context have another bit than it has."""
    real = FastSim.core_words

    def core_words(self, unit):
        words = real(self, unit)
        words[4, bit // 32] ^= 1 << bit % 32
        return words

    monkeypatch.setattr(FastSim, "core_words", core_words)


def test_a_wrong_field_is_named(sigrace_tiny, small, monkeypatch):
    places = {name: offset for name, offset, _ in sigrace_tiny.params.core_step_layout.flat()}
    _flip(monkeypatch, places["saturated"])
    difference = run_case(Case(sigrace_tiny, 1, 0)).difference
    assert difference.startswith(
        "Core 0, context 0, step 4: step differs: saturated must be 0, not 1;"
    )


def test_a_wrong_bit_outside_fields(sigrace_tiny, small, monkeypatch):
    layout = sigrace_tiny.params.core_step_layout
    assert layout.width % 32, "The last word must have bits to spare"
    _flip(monkeypatch, layout.width)
    assert "in every bit outside fields" in run_case(Case(sigrace_tiny, 1, 0)).difference
