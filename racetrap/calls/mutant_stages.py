"""Stages of the search for a mutant's outcome: cases, benches and proofs, until one decides."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

from racetrap.commands.shared.long_work import Measure
from racetrap.evaluation.kept_results import result_key
from racetrap.evaluation.mutants.benches import BENCH_SOURCES, BenchRun, benches_around, run_benches
from racetrap.evaluation.mutants.equivalence import BY_STRUCTURE, FAST_PROOFS, SLOW_PROOFS, Proof
from racetrap.evaluation.mutants.relations import (
    RELATION_SOURCES,
    RelationRun,
    relation_of,
    try_relation,
)
from racetrap.evaluation.mutants.run import (
    CASE_SOURCES,
    PROOF_SOURCES,
    BlockRun,
    Finding,
    MutantRun,
    Outcome,
    ProofRun,
    run_cases,
    try_proofs,
)
from racetrap.generators.system import Params
from racetrap.sim.content_cache import content_key
from racetrap.sim.cosim.fast.build import FastModel
from racetrap.sim.cosim.verilator.mutants import DESIGN, Mutant

#: Cases of which the shortest are run first, and how many before the first proof.
FIRST_CASES, _SHORT_CASES = 10, 4
#: Time limit of each proof that a mutant is equivalent, and of one by a relation.
_PROOF_SECONDS, _RELATION_SECONDS = 60, 300


@dataclass(frozen=True)
class Stage:
    """Cases, benches or proofs that are tried of all mutants that those before have not decided.

    Parameters
    ----------
    title : str
        Its name.
    measure : Measure
        How an item is run.
    item : callable
        From a mutant to the item.
    """

    title: str
    measure: Measure[Any, Finding]
    item: Callable[[Mutant], Any]


def words(*results: Finding) -> str:
    """How many mutants have each outcome."""
    names = {Outcome.SURVIVED: "not decided"}
    counts = {each: sum(result.outcome is each for result in results) for each in Outcome}
    return ", ".join(
        f"{number} {names.get(outcome, outcome.value)}"
        for outcome, number in counts.items() if number
    )  # fmt: skip


def _keyed_by(*sources: str) -> Callable[[Callable[..., object], BlockRun], str]:
    """Key of results that follow from the design, wherever its build is, and from sources."""
    return lambda function, item: result_key(function, replace(item, folder=Path()), sources)


_RELATIONS = Measure(try_relation, words, _keyed_by(*RELATION_SOURCES))
#: How a mutant is run in benches.
BENCHES = Measure(run_benches, words, _keyed_by(*BENCH_SOURCES))


def design_of(model: FastModel[Params]) -> str:
    """Hash of the design in a build with mutants."""
    return content_key(files=[model.folder / DESIGN])


def stages(run: MutantRun) -> list[Stage]:
    """What decides about most mutants soonest comes first."""
    folder, design = run.model.folder, design_of(run.model)

    def proofs(title: str, each: tuple[Proof, ...]) -> Stage:
        return Stage(
            title, Measure(try_proofs, words, _keyed_by(*PROOF_SOURCES)),
            lambda mutant: ProofRun(folder, design, mutant, each, _PROOF_SECONDS),
        )  # fmt: skip

    def related(mutant: Mutant) -> RelationRun:
        return RelationRun(
            folder, design, mutant, relation_of(run.model.preset, mutant), _RELATION_SECONDS
        )

    def cases(title: str, first: int, end: int | None) -> list[Stage]:
        which = slice(first, end)
        part = replace(run, cases=run.cases[which], digests=run.digests[which])
        stage = Stage(
            title, Measure(run_cases, words, partial(result_key, patterns=CASE_SOURCES)),
            lambda mutant: replace(part, mutant=mutant),
        )  # fmt: skip
        return [stage] if part.cases else []

    def benches(mutant: Mutant) -> BenchRun:
        preset = run.model.preset
        return BenchRun(folder, design, mutant, preset, benches_around(preset, mutant.block))

    return [
        proofs("Structure", BY_STRUCTURE),
        *cases("Short cases", 0, _SHORT_CASES),
        proofs("Fast proofs", FAST_PROOFS),
        Stage("Relations", _RELATIONS, related),
        *cases("Other cases", _SHORT_CASES, FIRST_CASES),
        Stage("Benches", BENCHES, benches),
        *cases("Further cases", FIRST_CASES, None),
        proofs("Slow proofs", SLOW_PROOFS),
    ]
