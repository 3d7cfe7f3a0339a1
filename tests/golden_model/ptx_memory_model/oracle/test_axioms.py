"""Oracle against axioms: unordered pairs over all sequentially consistent runs of small kernels."""

import pytest

from racetrap.golden_model.barracuda.compressed import NOTHING
from racetrap.golden_model.ptx_memory_model.candidates import TooManyCandidatesError
from racetrap.golden_model.ptx_memory_model.litmus import LitmusError, read_litmus
from racetrap.golden_model.ptx_memory_model.oracle import PtxOracle, oracle
from racetrap.golden_model.ptx_memory_model.oracle.acquisitions import OpenPatterns
from racetrap.golden_model.ptx_memory_model.oracle.messages import Message, Source
from racetrap.golden_model.ptx_memory_model.oracle.oracle import _Analysis
from racetrap.golden_model.ptx_memory_model.oracle.sc_fences import Preceding, ScFences
from tests.support import REPOSITORY
from tests.support.ptx_memory_model.interleavings import LeftOutError, compare
from tests.support.ptx_memory_model.random_tests import (
    random_barrier_kernel,
    random_fenced_kernel,
    random_kernel,
)

_FOLDER = REPOSITORY / "docs" / "examples" / "litmus"
_NAMES = (
    "MP+rel+acq-guarded", "MP+relaxed-guarded", "MP+fence+fence-guarded", "MP+rel-rlx+acq",
    "MP+fence.cta+fence", "RelSeq+atom", "RelSeq+ld-st", "RelSeq+atom.cta", "WRC+bar",
    "ISA2+cta-gpu", "ISA2+cta-gpu-apart", "Bar+two", "Bar+too-late", "CoRR+relaxed+mixed",
    "Lock+acq", "Lock+fences", "Lock+narrow-fence", "LastBlock+fences",
    "LastBlock+no-fence-after", "Add+weak-store", "Size+mixed-ordered", "MP+rel+rlx-acq",
    "Ticket+reset", "MP+rel-rlx+acq-guarded", "MP+bar+sc-early", "SB+sc+sc", "SB+sc.gpu+sc.cta",
    "R+sc+sc", "2+2W+sc+sc", "IRIW+sc", "Z6+sc",
)  # fmt: skip


def _litmus(name):
    return read_litmus(_FOLDER / f"{name}.litmus")


@pytest.mark.parametrize("name", _NAMES)
def test_litmus_tests(name):
    result = compare(_litmus(name), PtxOracle)
    assert result.runs
    assert not result.differences


def _compared(writer, seeds):
    for seed in seeds:
        try:
            yield compare(writer(seed), PtxOracle)
        except (LeftOutError, TooManyCandidatesError, LitmusError):
            continue


@pytest.mark.parametrize(
    ("writer", "seeds"),
    [
        (random_kernel, (783, 1134, 4700, *range(1, 22))),
        (random_fenced_kernel, (1001479, *range(40, 48))),
        (random_barrier_kernel, range(6)),
    ],
)
def test_random_kernels(writer, seeds):
    compared = list(_compared(writer, seeds))
    assert len(compared) >= 3
    assert not [each.differences for each in compared if each.differences]


def _always(*_):
    return True


def _nothing(*_):
    return iter(())


@pytest.mark.parametrize(
    ("where", "what", "wrong", "name"),
    [
        (Source, "is_morally_strong_with", _always, "RelSeq+atom.cta"),
        (Message, "all_observers", _nothing, "Ticket+reset"),
        (OpenPatterns, "release_operation", _nothing, "MP+rel-rlx+acq-guarded"),
        (OpenPatterns, "release_fence", _nothing, "MP+fence+fence-guarded"),
        (OpenPatterns, "acquire", lambda *_: [], "Lock+acq"),
    ],
)
def test_a_planted_error_is_caught(monkeypatch, where, what, wrong, name):
    test = _litmus(name)
    assert not compare(test, PtxOracle).differences
    monkeypatch.setattr(where, what, wrong)
    assert compare(test, PtxOracle).differences


@pytest.mark.parametrize(
    ("writer", "seeds", "where", "what", "wrong"),
    [
        (random_fenced_kernel, range(40, 60), ScFences, "add", _nothing),
        (random_fenced_kernel, range(40, 60), ScFences, "_is_communicated", _always),
        (random_fenced_kernel, range(40, 60), oracle, "read", lambda *_: NOTHING),
        (
            random_fenced_kernel, range(40, 60), oracle, "write",
            lambda *_: Preceding(NOTHING, NOTHING),
        ),
        (
            random_fenced_kernel, (1001479,), Message, "is_observed_by",
            lambda self, _, source: source.is_morally_strong_with(self.source),
        ),
        (random_barrier_kernel, range(20), _Analysis, "_published", lambda *_: []),
    ],
)  # fmt: skip
def test_a_planted_error_shows_in_random_kernels(
    monkeypatch, writer, seeds, where, what, wrong
):  # fmt: skip
    monkeypatch.setattr(where, what, wrong)
    assert any(each.differences for each in _compared(writer, seeds))
