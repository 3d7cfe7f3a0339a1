"""Parts of the evaluation, and a whole program through all of them."""

from __future__ import annotations

from dataclasses import replace

import pytest

from racetrap.evaluation.sigrace import hardware
from racetrap.evaluation.sigrace.hardware import run_hardware
from racetrap.evaluation.sigrace.policies import PAPERS, POLICIES
from racetrap.evaluation.sigrace.runs import ProgramPart, gather, parts_of, run_part
from racetrap.golden_model.sigrace.params import SigraceParams
from racetrap.golden_model.sigrace.sigrace import Sigrace
from racetrap.golden_model.trace.threads.thread_trace import ThreadTrace
from racetrap.sim.cosim.comparison.mismatch import Mismatch
from racetrap.sim.cosim.fast.build import FastModel
from racetrap.sim.cpu.random_run import random_run
from tests.support.sigrace.programs import ThreadProgram
from tests.support.sigrace.results import EXISTING, HARDWARE, INJECTED, VERDICT, result

PARAMS = SigraceParams(cores=4, threads=4)


def test_a_whole_program() -> None:
    parts = parts_of(["lu"], "tiny", PARAMS, 2, 7)
    (lu,) = gather(parts, {"lu": list(map(run_part, parts["lu"]))})
    assert len(parts["lu"]) == 6
    assert set(lu.policies) == set(POLICIES)
    assert lu.policies[PAPERS].statistics == lu.existing.statistics
    firsts = [run.first_race for run in lu.injected if run.first_race]
    assert lu.policies[PAPERS].first_race == firsts[0]
    assert lu.program == "lu"
    assert lu.figures.threads == 4
    assert lu.existing.exact.dynamic == lu.existing.sigrace.dynamic == 0
    assert lu.existing.statistics.messages > 100
    assert len(lu.injected) == 2
    for run in lu.injected:
        assert run.removed.startswith("crossing of barrier")
        assert run.unreal == 0
        assert run.sigrace.static <= run.exact.static
    assert lu.verdict.agrees
    assert lu.hardware is None


def test_parts_of_several_programs() -> None:
    model = FastModel("sigrace", PARAMS, None, {})
    by_program = parts_of(["fft", "lu"], "small", PARAMS, 3, 10, model, "tiny")
    parts = [part for name in ("fft", "lu") for part in by_program[name]]
    assert len({(each.part, each.program, each.seed) for each in parts}) == len(parts) == 2 * 8
    assert {each.size for each in parts if each.part != "hardware"} == {"small"}
    on_hardware = [each for each in parts if each.part == "hardware"]
    for each in on_hardware:
        assert (each.size, each.model) == ("tiny", model)
    assert [each.seed for each in parts if each.part == "injected"] == [10, 11, 12] * 2


def test_outcomes_are_gathered_by_program() -> None:
    parts = {"figures": result().figures, "existing": EXISTING, "hardware": HARDWARE}
    parts |= {"verdict": VERDICT, "policies": result().policies}
    asked = {
        name: [
            *(ProgramPart(part, name, "tiny", PARAMS) for part in parts),
            *(ProgramPart("injected", name, "tiny", PARAMS, seed) for seed in seeds),
        ]
        for name, seeds in (("fft", ()), ("lu", range(3)))
    }
    other = replace(INJECTED, unreal=1)
    made = list(parts.values())
    fft, lu = gather(asked, {"fft": made, "lu": [*made, INJECTED, None, other]})
    assert (fft.program, fft.injected, fft.existing) == ("fft", (), EXISTING)
    assert (lu.injected, lu.hardware) == ((INJECTED, other), HARDWARE)


def test_a_part_gives_the_same_result_again() -> None:
    part = ProgramPart("injected", "lu", "tiny", PARAMS, 3)
    assert run_part(part) == run_part(part)


def racy() -> ThreadTrace:
    program = ThreadProgram(2)
    program.store(0, 0x1000)
    program.load(1, 0x1000)
    return program.trace()


def test_hardware_finds_what_compiled_sigrace_does(sigrace_tiny: FastModel[SigraceParams]) -> None:
    run = run_hardware(sigrace_tiny, racy(), 1)
    assert run.difference == ""
    assert (run.messages, run.races) == (2, 1)
    assert run.steps > run.events > 5


@pytest.mark.parametrize("seed", range(3))
def test_hardware_on_random_programs(sigrace_tiny: FastModel[SigraceParams], seed: int) -> None:
    trace = random_run(seed, threads=2, events=100)
    run = run_hardware(sigrace_tiny, trace, seed)
    assert run.difference == ""
    expected = Sigrace(sigrace_tiny.params).run(trace)
    assert run.races == len(expected.races)


def test_hardware_that_differs(
    sigrace_tiny: FastModel[SigraceParams], monkeypatch: pytest.MonkeyPatch
) -> None:
    def differs(*_: object) -> None:
        raise Mismatch("Step 3 must be a push")

    monkeypatch.setattr(hardware, "run_program", differs)
    assert run_hardware(sigrace_tiny, racy(), 1).difference == "Step 3 must be a push"


def test_compiled_sigrace_that_differs(
    sigrace_tiny: FastModel[SigraceParams], monkeypatch: pytest.MonkeyPatch
) -> None:
    expected = Sigrace(sigrace_tiny.params).run(racy())
    other = replace(expected, races=[])
    monkeypatch.setattr(hardware, "run_sigrace", lambda *_: other)
    assert "with 0 races, not one with 1" in run_hardware(sigrace_tiny, racy(), 1).difference
