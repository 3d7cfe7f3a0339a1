"""Oracle against axioms: unordered pairs over all sequentially consistent runs of small kernels."""

import pytest

from racetrap.golden_model.barracuda.compressed import NOTHING
from racetrap.golden_model.ptx_memory_model.candidates import Search, TooManyCandidatesError
from racetrap.golden_model.ptx_memory_model.litmus import LitmusError, read_litmus
from racetrap.golden_model.ptx_memory_model.relation import Relation
from racetrap.sim.gpu.oracle import CompiledOracle, OracleRule
from tests.support import REPOSITORY
from tests.support.ptx_memory_model.interleavings import (
    LeftOutError,
    compare,
    interleavings,
    operation_of,
)
from tests.support.ptx_memory_model.random_tests import (
    random_barrier_kernel,
    random_fenced_kernel,
    random_flag_kernel,
    random_kernel,
)
from tests.support.ptx_oracle import acquisitions, oracle
from tests.support.ptx_oracle.acquisitions import OpenPatterns
from tests.support.ptx_oracle.messages import Message, Source
from tests.support.ptx_oracle.oracle import PtxOracle, _Analysis
from tests.support.ptx_oracle.sc_fences import Preceding, ScFences

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
    result = compare(_litmus(name), PtxOracle, CompiledOracle)
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
        (random_barrier_kernel, range(12)),
    ],
)
def test_random_kernels(writer, seeds):
    compared = list(_compared(writer, seeds))
    assert len(compared) >= 3
    for each in compared:
        assert not each.differences


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
    assert any(each.differences for each in _compared(writer, seeds)), f"{seeds} do not differ"


def _overlooked(test):
    """Reads of a flag with stores of it that they do not observe in a run, and race with by
    neither rule."""
    found = set()
    for trace, observations in interleavings(test):
        for race in PtxOracle(OracleRule.CAUSALITY).run(trace).unordered_strong:
            store, load = sorted(map(operation_of, (race.first.pc, race.second.pc)))
            if (load, store) not in observations.sources:
                found.add((store, load))
    return found


def _read_and_synchronised(test):
    """Pairs of a store and a read that observes it in some execution; those of them that make
    known what nothing else does."""
    read, synchronised = set(), set()
    for consistent in Search(test, 2_000):
        structure, instructions = consistent.run.structure, consistent.run.instructions
        for execution in consistent.executions():
            for each in structure.synchronizations:
                if (each.write, each.read) not in execution.observation_order:
                    continue
                pair = tuple(
                    (structure.events[event].thread, instructions[event])
                    for event in (each.write, each.read)
                )
                others = execution.synchronizes_with - Relation.of(
                    len(structure.events), [(each.first, each.last)]
                )
                if (each.first, each.last) not in structure.base_causality(others):
                    synchronised.add(pair)
            read |= {
                tuple((structure.events[event].thread, instructions[event])
                      for event in (write, load))
                for load, writes in execution.sources.items() for write in writes
            }  # fmt: skip
    return read, synchronised


def _wrongly_overlooked(seeds):
    pairs = wrong = 0
    for seed in seeds:
        test = random_flag_kernel(seed)
        try:
            if not (overlooked := _overlooked(test)):
                continue
            read, synchronised = _read_and_synchronised(test)
        except (LeftOutError, TooManyCandidatesError, LitmusError):
            continue
        pairs += len(overlooked)
        wrong += len(overlooked & read - synchronised)
    return pairs, wrong


def test_overwritten_flags_that_nobody_read_synchronise_in_another_execution(monkeypatch):
    pairs, wrong = _wrongly_overlooked(range(80))
    assert pairs > 3
    assert not wrong
    monkeypatch.setattr(acquisitions, "_counts", _always)
    assert _wrongly_overlooked(range(80))[1]
