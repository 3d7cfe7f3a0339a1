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
from racetrap.evaluation.mutants.run import (
    RESULT_SOURCES,
    MutantRun,
    Outcome,
    alone,
    run_mutant,
    run_unchanged,
)
from racetrap.evaluation.mutants.table import EXPLAINED_FILE
from racetrap.generators.presets import find_preset
from racetrap.generators.systems import SYSTEMS
from racetrap.sim.cosim.fast.build import FastModel, build_fast
from racetrap.sim.cosim.verilator.mutants import UNCHANGED, Mutant, MutantDraw, read_mutants
from racetrap.sim.failure import Failure


def test_a_reason_that_is_added_runs_no_mutant_again():
    root = Path(racetrap.__file__).parent
    matched = {path.resolve() for pattern in RESULT_SOURCES for path in root.glob(pattern)}
    assert Path(run.__file__).resolve() in matched
    assert EXPLAINED_FILE.resolve() not in matched
    # Nor does work on what no mutant runs.
    assert [path for path in matched if (root / "sim" / "gpu").resolve() in path.parents] == []


@pytest.mark.parametrize("system", [system.name for system in SYSTEMS])
def test_a_campaign_that_is_changed_runs_mutants_again(system):
    root = Path(racetrap.__file__).parent
    matched = {path.resolve() for pattern in RESULT_SOURCES for path in root.glob(pattern)}
    assert (root / "evaluation" / system / "campaign.py").resolve() in matched


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


@pytest.mark.parametrize(
    ("kills", "proved", "outcome", "order"),
    [
        # Short cases come first, with the change in all instances and in one.
        ((11, 2), (), Outcome.KILLED, [(3, 5), (3, 4), (3, 3), (3, 2), (11, 5), (11, 4), (11, 3),
                                       (11, 2)]),
        ((3, 4), (), Outcome.KILLED, [(3, 5), (3, 4)]),
        ((3, 1), ("state",), Outcome.EQUIVALENT, ["state"]),
        ((3, 1), ("leaves",), Outcome.KILLED, ["state", (3, 1)]),
        ((3, 9), ("leaves",), Outcome.EQUIVALENT, [(11, 0), "block's registers", "leaves"]),
        ((3, 9), (), Outcome.SURVIVED, [(11, 0), "block's registers", "leaves"]),
    ],
)  # fmt: skip
def test_what_decides_soonest_comes_first(monkeypatch, kills, proved, outcome, order):
    done = []

    def say(what, said):
        done.append(what)
        return said

    def difference(say_difference):
        case = say_difference.args[0]
        at = case.model.mutant, case.number
        return say(at, "step 1 differs" if at == kills else "")

    def holds(folder, mutant, proof, seconds):
        name = next(each for each in ("state", "block's registers", "leaves") if each in proof.says)
        return say(name, name in proved)

    monkeypatch.setattr(run, "alone", difference)
    monkeypatch.setattr(run, "is_observed", lambda folder, mutant: True)
    monkeypatch.setattr(run, "holds", holds)
    params = find_preset("scord-tiny").params
    model = FastModel("scord-tiny", params, Path(), None)
    found = run_mutant(MutantRun(model, _MUTANT, 1, (5, 4, 3, 2, 1, 0), (10,) * 6, 10))
    assert (found.outcome, done[-len(order) :]) == (outcome, order)
    assert found.case == (kills[1] if outcome is Outcome.KILLED else None)


def test_a_survivor_that_changes_the_number_of_cycles_is_named_so(monkeypatch):
    seen = SimpleNamespace(difference="", counts={"cycles": 11})
    monkeypatch.setattr(run, "run_case", lambda case: seen)
    monkeypatch.setattr(run, "is_observed", lambda folder, mutant: True)
    model = FastModel("scord-tiny", find_preset("scord-tiny").params, Path(), None)
    found = [
        run_mutant(MutantRun(model, _MUTANT, 1, (0, 1), (11, cycles), 0)) for cycles in (11, 12)
    ]
    assert [each.outcome for each in found] == [Outcome.SURVIVED] * 2
    assert found[0].reason == "no case differs; no proof was tried"
    assert found[1].reason == "no case differs, except in its cycles; no proof was tried"


@pytest.mark.campaign
@pytest.mark.parametrize(
    ("preset", "block"),
    [("scord-tiny", "report_path_filter"), ("causality-tiny", "mark_keeper")],
)
def test_the_campaign_kills_mutants_and_not_the_design(preset, block):
    model = build_fast(preset, find_preset(preset).params, mutants=MutantDraw((block,), 6))
    run = MutantRun(model, UNCHANGED, 1, (0, 1), (), 0)
    unchanged = run_unchanged(run)
    assert unchanged.difference == ""
    assert sorted(unchanged.cases) == [0, 1]
    run = replace(run, cases=unchanged.cases, cycles=unchanged.cycles)
    found = [run_mutant(replace(run, mutant=each)) for each in read_mutants(model.folder)]
    assert {result.mutant.block for result in found} == {block}
    assert Counter(result.outcome for result in found)[Outcome.KILLED] > 2
