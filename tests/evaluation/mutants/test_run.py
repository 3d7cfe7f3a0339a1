"""A mutant in a process of its own; planted mutants of real presets."""

import os
import signal
from collections import Counter
from pathlib import Path

import pytest

import racetrap
from racetrap.evaluation.mutants import run
from racetrap.evaluation.mutants.run import (
    RESULT_SOURCES,
    MutantRun,
    Outcome,
    alone,
    run_mutant,
)
from racetrap.evaluation.mutants.table import EXPLAINED_FILE
from racetrap.generators.presets import find_preset
from racetrap.sim.cosim.fast.build import build_fast
from racetrap.sim.cosim.verilator.mutants import UNCHANGED, MutantDraw, read_mutants
from racetrap.sim.failure import Failure


def test_a_reason_that_is_added_runs_no_mutant_again():
    root = Path(racetrap.__file__).parent
    matched = {path.resolve() for pattern in RESULT_SOURCES for path in root.glob(pattern)}
    assert Path(run.__file__).resolve() in matched
    assert EXPLAINED_FILE.resolve() not in matched


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


@pytest.mark.campaign
@pytest.mark.parametrize(
    ("preset", "block"),
    [("scord-tiny", "report_path_filter"), ("causality-tiny", "mark_keeper")],
)
def test_the_campaign_kills_mutants_and_not_the_design(preset, block):
    model = build_fast(preset, find_preset(preset).params, mutants=MutantDraw((block,), 6))
    unchanged, *found = (
        run_mutant(MutantRun(model, mutant, seed=1, cases=2, proof_seconds=0))
        for mutant in (UNCHANGED, *read_mutants(model.folder))
    )
    assert unchanged.outcome is Outcome.SURVIVED, unchanged.reason
    assert {result.mutant.block for result in found} == {block}
    assert Counter(result.outcome for result in found)[Outcome.KILLED] > 2
