"""A mutant in a process of its own; planted mutants of real presets."""

import os
import signal
from collections import Counter
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest

import racetrap
from racetrap.evaluation.mutants import run
from racetrap.evaluation.mutants.equivalence import Proof
from racetrap.evaluation.mutants.run import (
    CASE_SOURCES,
    PROOF_SOURCES,
    Finding,
    MutantRun,
    Outcome,
    ProofRun,
    alone,
    result_of,
    run_cases,
    run_unchanged,
    try_proofs,
)
from racetrap.evaluation.mutants.table import EXPLAINED_FILE
from racetrap.generators.presets import find_preset
from racetrap.generators.systems import SYSTEMS
from racetrap.sim.cosim.fast.build import FastModel, build_fast
from racetrap.sim.cosim.verilator.mutants import UNCHANGED, Mutant, MutantDraw, read_mutants
from racetrap.sim.failure import Failure


def _matched(patterns):
    root = Path(racetrap.__file__).parent
    return {path.relative_to(root).as_posix() for each in patterns for path in root.glob(each)}


def test_a_reason_that_is_added_runs_no_mutant_again():
    matched = _matched(CASE_SOURCES) | _matched(PROOF_SOURCES)
    assert [name for name in matched if name.endswith(EXPLAINED_FILE.name)] == []
    # Nor does work on what no mutant runs.
    assert [name for name in matched if name.startswith("sim/gpu/")] == []


def test_a_proof_that_is_changed_runs_no_case_again():
    assert not _matched(CASE_SOURCES) & _matched(PROOF_SOURCES)
    assert "evaluation/mutants/equivalence.py" in _matched(PROOF_SOURCES)


@pytest.mark.parametrize("system", [system.name for system in SYSTEMS])
def test_a_campaign_that_is_changed_runs_mutants_again(system):
    assert f"evaluation/{system}/campaign.py" in _matched(CASE_SOURCES)


def test_what_a_process_says():
    assert alone(lambda: "step 3 differs") == "step 3 differs"
    assert alone(lambda: "") == ""


def test_a_process_that_is_brought_down():
    def crash():
        os.kill(os.getpid(), signal.SIGTERM)

    assert alone(crash) == "simulation ended by SIGTERM"


def test_an_error_of_our_own_is_no_difference(capfd):
    with pytest.raises(Failure, match="ended with the error above"):
        alone(lambda: str(1 // 0))
    assert "ZeroDivisionError" in capfd.readouterr().err


def test_a_process_that_does_not_end(monkeypatch):
    def hang():
        while True:
            pass

    monkeypatch.setattr(run, "_CASE_SECONDS", 1)
    assert alone(hang) == "case did not end within 1 s of CPU time"


_MUTANT = Mutant(3, "queue", True, "Y[0] of not is 1", "mutate", alone=11)


_RUN = MutantRun(
    FastModel("scord-tiny", find_preset("scord-tiny").params, Path(), None), _MUTANT, 1, (5, 4),
    (10, 10),
)  # fmt: skip


@pytest.mark.parametrize(
    ("kills", "case", "order"),
    [
        # First with the change in all instances, then in one.
        ((3, 4), 4, [(3, 5), (3, 4)]),
        ((11, 5), 5, [(3, 5), (3, 4), (11, 5)]),
        ((3, 9), None, [(3, 5), (3, 4), (11, 5), (11, 4)]),
    ],
)
def test_the_first_difference_ends_the_cases(monkeypatch, kills, case, order):
    done = []

    def difference(say_difference):
        given = say_difference.args[0]
        done.append((given.model.mutant, given.number))
        return "step 1 differs" if done[-1] == kills else ""

    monkeypatch.setattr(run, "alone", difference)
    found = run_cases(_RUN)
    assert (found.case, done) == (case, order)
    assert found.outcome is (Outcome.SURVIVED if case is None else Outcome.KILLED)


@pytest.mark.parametrize(("proved", "tried"), [("b", ["a", "b"]), ("", ["a", "b", "c"])])
def test_the_first_proof_ends_them(monkeypatch, proved, tried):
    done = []

    def holds(folder, mutant, proof, seconds):
        done.append(proof.says)
        return proof.says == proved

    monkeypatch.setattr(run, "holds", holds)
    proofs = tuple(map(Proof, "abc"))
    found = try_proofs(ProofRun(Path(), "", _MUTANT, proofs, 10))
    assert (done, found.reason) == (tried, proved)
    assert found.outcome is (Outcome.EQUIVALENT if proved else Outcome.SURVIVED)


@pytest.mark.parametrize(
    ("digest", "with_digests", "outcome", "reason"),
    [
        (11, True, Outcome.SURVIVED, "no case differs; no proof was found"),
        (12, False, Outcome.SURVIVED,
         "no case differs, except in its digest; no proof was found"),
        (12, True, Outcome.KILLED, run.BY_DIGEST),
    ],
)  # fmt: skip
def test_another_digest_kills_if_those_of_the_design_are_kept(
    monkeypatch, digest, with_digests, outcome, reason
):
    seen = SimpleNamespace(difference="", digest=11)
    monkeypatch.setattr(run, "run_case", lambda case: seen)
    found = run_cases(replace(_RUN, digests=(11, digest)))
    result = result_of(_MUTANT, [found, Finding(Outcome.SURVIVED)], with_digests)
    assert (result.outcome, result.reason) == (outcome, reason)


@pytest.mark.campaign
@pytest.mark.parametrize(
    ("preset", "block"),
    [("scord-tiny", "report_path_filter"), ("causality-tiny", "mark_keeper")],
)
def test_the_campaign_kills_mutants_and_not_the_design(preset, block):
    model = build_fast(preset, find_preset(preset).params, mutants=MutantDraw((block,), 6))
    run = MutantRun(model, UNCHANGED, 1, (0, 1), ())
    unchanged = run_unchanged(run)
    assert unchanged.difference == ""
    assert sorted(unchanged.cases) == [0, 1]
    run = replace(run, cases=unchanged.cases, digests=unchanged.digests)
    mutants = read_mutants(model.folder)
    assert {mutant.block for mutant in mutants} == {block}
    found = [run_cases(replace(run, mutant=mutant)) for mutant in mutants]
    assert Counter(result.outcome for result in found)[Outcome.KILLED] > 2
