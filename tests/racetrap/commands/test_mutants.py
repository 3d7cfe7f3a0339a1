"""`racetrap mutants`: table, JSON, page and exit status."""

import json

import pytest

from racetrap.calls import mutant_stages, mutants
from racetrap.evaluation.mutants import digests, table
from racetrap.evaluation.mutants.benches import BenchRun
from racetrap.evaluation.mutants.equivalence import SLOW_PROOFS
from racetrap.evaluation.mutants.relations import RelationRun
from racetrap.evaluation.mutants.run import Finding, Outcome, ProofRun, UnchangedResult
from racetrap.sim.cosim.fast.build import FastModel
from racetrap.sim.cosim.verilator.mutants import MutantDraw, read_mutants
from tests.support.long_work import answer, stop_after
from tests.support.mutants import make_small


@pytest.fixture
def call(racetrap, monkeypatch, tmp_path):
    """Calls the command on a small design, whose mutants are not simulated; gives its result, its
    JSON and the mutants."""
    make_small(tmp_path, MutantDraw(count=3))
    drawn = read_mutants(tmp_path)

    def build(name, params, mutants):
        assert (name, mutants) == ("scord-tiny", MutantDraw((), 3, 5))
        return FastModel(name, params, tmp_path, {})

    def _call(outcome_of, *more, difference="", has_kills=True, in_bench=""):
        def run(item):
            if isinstance(item, BenchRun):
                said = in_bench if outcome_of(item.mutant) is not Outcome.EQUIVALENT else ""
                outcome = Outcome.KILLED if item.benches and said else Outcome.SURVIVED
                return Finding(outcome, None, said)
            if isinstance(item, RelationRun):
                assert item.relation is None
                return Finding(Outcome.SURVIVED)
            if not item.mutant.number:
                return UnchangedResult(difference, item.cases[::-1], (5, 6, 7))
            outcome = outcome_of(item.mutant)
            if isinstance(item, ProofRun):
                is_last = item.proofs == SLOW_PROOFS
                proved = is_last and outcome is Outcome.EQUIVALENT
                return Finding(outcome if proved else Outcome.SURVIVED, None, "proved")
            assert (item.cases, item.digests) == ((2, 1, 0), (5, 6, 7))
            if outcome is Outcome.KILLED:
                return Finding(outcome, 1, "first difference", 1.0)
            return Finding(Outcome.SURVIVED)

        monkeypatch.setattr(mutants, "build_fast", build)
        answer(monkeypatch, run)
        words = ["--count", 3, "--cases", 3, "--seed", 5, "--json", tmp_path / "found.json"]
        page = tmp_path / "page.html"
        done = racetrap("mutants", "scord-tiny", *words, "--output", page, *more)
        assert ("first difference" in page.read_text()) == has_kills
        return done, json.loads((tmp_path / "found.json").read_text()), drawn

    return _call


def _outcomes(mutant):
    """The first of a block survives, the second is equivalent, all others are killed."""
    return (Outcome.SURVIVED, Outcome.EQUIVALENT, Outcome.KILLED)[(mutant.number - 1) % 3]


def _with_bench(monkeypatch):
    """Block `counter` has a bench."""
    around = {"counter": ("counter",)}
    monkeypatch.setattr(mutants, "benches_of", lambda preset: around)
    monkeypatch.setattr(mutant_stages, "benches_around", lambda _, block: around.get(block, ()))


def test_a_bench_kills_what_no_case_does(call, monkeypatch):
    _with_bench(monkeypatch)

    def outcomes(mutant):
        return _outcomes(mutant) if mutant.number else Outcome.EQUIVALENT

    _, found, drawn = call(outcomes, in_bench="bench of counter, seed 0: AssertionError")
    rows = {row["block"]: row for row in found["tables"]["blocks"]}
    assert (rows["counter"]["killed"], rows["counter"]["survived"]) == (2, 0)
    assert (rows["system"]["killed"], rows["system"]["survived"]) == (1, 1)
    reasons = [each["reason"] for each in found["all"] if each["number"] == drawn[6].number]
    assert reasons == ["bench of counter, seed 0: AssertionError"]


def test_a_bench_of_the_design_must_find_nothing(call, monkeypatch):
    _with_bench(monkeypatch)
    done, found, _ = call(lambda _: Outcome.KILLED, in_bench="bench of counter", has_kills=False)
    assert done.exit_code == 3
    assert found["problems"][0] == "Design without a mutant differs in the bench of counter"
    assert found["all"] == []


def test_scores_and_an_unexplained_survivor(call):
    done, found, drawn = call(_outcomes)
    assert done.exit_code == 3
    assert f"3 survivors have no reason, the first is system: {drawn[0].change}" in done.output
    assert "counter: 1 killed, 2 not decided\n" in done.output
    assert "counter: 1 equivalent, 1 not decided\n" in done.output
    rows = {row["block"]: row for row in found["tables"]["blocks"]}
    assert [*rows] == ["system", "logic", "counter", "blocks with state", "all"]
    assert rows["counter"] == {
        "block": "counter", "state": "yes", "mutants": 3, "killed": 1, "by digest": 0,
        "equivalent": 1, "survived": 1, "explained": 0, "score %": 50.0,
        "95 % interval": "9.5-90.5",
    }  # fmt: skip
    assert (rows["all"]["mutants"], rows["all"]["state"]) == (9, "some")
    assert [row["number"] for row in found["tables"]["survivors"]] == [1, 4, 7]
    assert [each["outcome"] for each in found["all"]][:3] == ["survived", "equivalent", "killed"]


def test_a_survivor_with_a_reason_is_no_failure(call, monkeypatch, tmp_path):
    make_small(tmp_path, MutantDraw(count=3))
    reasons = {f"{each.block}: {each.change}": "nobody looks" for each in read_mutants(tmp_path)}
    monkeypatch.setattr(table, "explanations", lambda: {"scord-tiny": reasons})
    done, found, _ = call(_outcomes)
    assert done.exit_code == 0
    assert {row["reason"] for row in found["tables"]["survivors"]} == {"nobody looks"}
    assert found["problems"] == []


def test_the_design_itself_must_agree(call):
    done, found, _ = call(_outcomes, difference="Case 2: step 3 differs", has_kills=False)
    assert done.exit_code == 3
    assert "Design without a mutant differs: Case 2: step 3 differs" in done.output
    assert found["all"] == []


def test_the_design_itself_must_have_its_digests(call, monkeypatch):
    monkeypatch.setattr(digests, "SEED", 5)
    monkeypatch.setattr(digests, "_kept", lambda: {"scord-tiny": (8,)})
    done, found, _ = call(_outcomes, has_kills=False)
    assert done.exit_code == 3
    assert "Case 0 of scord-tiny" in done.output
    assert found["all"] == []


def test_a_stopped_command_goes_on(call, monkeypatch):
    with monkeypatch.context() as stopping:
        stop_after(stopping, 5, KeyboardInterrupt())
        done, found, _ = call(_outcomes, has_kills=False)
    # Of no block all mutants are decided.
    assert (done.exit_code, found["missing"], found["all"]) == (
        130,
        ["logic", "counter", "system"],
        [],
    )
    _, found, _ = call(_outcomes)
    assert (found["kept"], found["missing"]) == (5, [])


def test_some_blocks_of_the_same_build(call):
    _, found, _ = call(_outcomes, "--block", "counter", "--block", "logic")
    assert [row["block"] for row in found["tables"]["blocks"]] == ["logic", "counter"]
    assert {each["block"] for each in found["all"]} == {"logic", "counter"}


def test_a_block_that_does_not_exist(call, racetrap):
    call(_outcomes)
    done = racetrap("mutants", "scord-tiny", "--count", 3, "--seed", 5, "--block", "countre")
    assert done.exit_code == 2
    assert "Unknown block 'countre': did you mean 'counter'?" in done.output
