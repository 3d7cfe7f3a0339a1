"""Disagreements of a GPU and racetrap, each with the sentence that explains it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from racetrap.golden_model.ptx_memory_model.candidates.judge import judge
from racetrap.golden_model.ptx_memory_model.litmus.condition import print_observed
from racetrap.golden_model.ptx_memory_model.litmus.parser import read_litmus
from racetrap.golden_model.ptx_memory_model.operational.exploration import MODELS, compare
from racetrap.sim.toml_file import Table, TomlFile, read_toml
from tests.cccl_drivers import kept_rows
from tests.support.gpu.comparison.packing import LITMUS_FOLDER

Outcome = tuple[int, ...]
Results = Mapping[str, Any]
_EXPLANATIONS = Path(__file__).with_name("explanations.toml")


class _Reason(Table):
    about: str
    because: str
    names: list[str]


class _Reasons(TomlFile):
    reasons: list[_Reason]


@cache
def explanations(path: Path = _EXPLANATIONS) -> dict[tuple[str, str], str]:
    """Sentences of a file by what they are about and by name."""
    file = read_toml(path, _Reasons)
    found: dict[tuple[str, str], str] = {}
    for reason in file.reasons:
        for name in reason.names:
            assert found.setdefault((reason.about, name), reason.because) is reason.because, name
    return found


class Disagreement(NamedTuple):
    """What the GPU or its tools say of something, and we do not, or the other way round.

    Parameters
    ----------
    about, name : str
        What it is, and of which program, kernel or litmus test.
    details : str
        More, in a few words.
    """

    about: str
    name: str
    details: str = ""


def of_programs(gpu: Results, ours: Results) -> Iterator[Disagreement]:
    """Disagreements about programs."""
    for name, found in gpu.items():
        races = ours[name]["races"]
        if found["racecheck"] is None or found["synccheck"] is None:
            yield Disagreement("no verdict of the sanitizer", name)
        elif races and not found["racecheck"]:
            yield Disagreement("racecheck is silent", name, f"{len(races)} pairs of lines race")
        elif found["racecheck"] and not races:
            yield Disagreement("racecheck alone reports", name, f"{found['racecheck']} hazards")
        if found["synccheck"]:
            yield Disagreement("synccheck reports", name, f"{found['synccheck']} errors")
        wrong = sum(failed for _, failed in found["outputs"].values())
        if wrong and not races:
            yield Disagreement("wrong without a race", name, f"{wrong} runs fail")


def of_kernels(gpu: Results, ours: Results) -> Iterator[Disagreement]:
    """Disagreements about kernels."""
    for name, found in gpu.items():
        own = ours[name]
        if missing := own.get("missing"):
            count = sum(found["states"][each] for each in missing)
            runs = sum(found["states"].values())
            yield Disagreement("memory never shown", name, f"{count} of {runs} runs")
        if found["hazards"] and not own["racy"]:
            yield Disagreement("racecheck alone reports", name, _levels(found["hazards"]))
        if errors := found.get("synccheck"):
            yield Disagreement("synccheck reports", name, ", ".join(errors).lower())


def _levels(hazards: list[list[str]]) -> str:
    return ", ".join(sorted({level for _, _, level in hazards}))


def of_drivers(gpu: Results) -> Iterator[Disagreement]:
    """Disagreements about drivers over CCCL's headers: with NumPy, and with the executor."""
    executor = {row.name: row for row in kept_rows() if not row.is_racy}
    for name, found in gpu.items():
        runs = sum(found["outputs"].values())
        if found["right"] < runs:
            yield Disagreement("result is not NumPy's", name, f"{found['right']} of {runs} runs")
        if name not in executor or not executor[name].result:
            yield Disagreement("executor has no result", name)


class LitmusRow(NamedTuple):
    """A litmus test on the GPU and in the models.

    Parameters
    ----------
    name : str
        Its name.
    columns : tuple of str
        What is observed.
    counts : dict of tuple of int to int
        Outcomes on the GPU.
    allowed : dict of tuple of int to bool
        Outcomes that the axioms allow, each with whether an interleaving has it.
    views : set of tuple of int or None
        Outcomes of the machine of ``stress --memory views``; ``None`` where it does not cover
        the test.
    """

    name: str
    columns: tuple[str, ...]
    counts: dict[Outcome, int]
    allowed: dict[Outcome, bool]
    views: set[Outcome] | None

    @property
    def weak(self) -> list[Outcome]:
        """Outcomes that are allowed and that no interleaving has."""
        return sorted(each for each, is_sequential in self.allowed.items() if not is_sequential)

    @property
    def forbidden(self) -> list[Outcome]:
        """Outcomes of the GPU that the axioms forbid."""
        return sorted(self.counts.keys() - self.allowed.keys())


def litmus_rows(gpu: Results) -> list[LitmusRow]:
    """Litmus tests, judged."""
    rows = []
    for name, found in gpu.items():
        judgement = judge(read_litmus(LITMUS_FOLDER / f"{name}.litmus"))
        columns = tuple(found["columns"])
        order = [print_observed(each) for each in judgement.states[0].values]
        places = [order.index(column) for column in columns]

        def in_columns(values: tuple[int, ...] | list[int], places: list[int] = places) -> Outcome:
            return tuple(values[place] % (1 << 64) for place in places)

        allowed = {
            in_columns(list(state.values.values())): state.sequentially_consistent
            for state in judgement.states
        }
        compared = compare(judgement, MODELS["views"])
        outcomes = {
            tuple(map(int, values.split())): count for values, count in found["outcomes"].items()
        }
        views = None
        if compared is not None:
            views = {in_columns(each) for each in compared.exploration.outcomes}
        rows.append(LitmusRow(name, columns, outcomes, allowed, views))
    return rows


def of_litmus(rows: list[LitmusRow]) -> Iterator[Disagreement]:
    """Disagreements about litmus tests."""
    for row in rows:
        for outcome in row.forbidden:
            values = ", ".join(
                f"{column} = {value}" for column, value in zip(row.columns, outcome, strict=True)
            )
            count, total = row.counts[outcome], sum(row.counts.values())
            yield Disagreement(
                "outcome is forbidden", row.name, f"{values} in {count} of {total} instances"
            )


def disagreements(results: Results, rows: list[LitmusRow]) -> list[Disagreement]:
    """All of them."""
    gpu, ours = results["gpu"], results["ours"]
    return [
        *of_programs(gpu["programs"], ours["programs"]),
        *of_kernels(gpu["kernels"], ours["kernels"]),
        *of_drivers(gpu["drivers"]),
        *of_litmus(rows),
    ]


def complaints_about(
    found: list[Disagreement], known: Mapping[tuple[str, str], str] | None = None
) -> list[str]:
    """Disagreements without a sentence, and sentences of what does not disagree."""
    known = explanations() if known is None else known
    there = {(each.about, each.name) for each in found}
    return [
        f"{each.name}: {each.about} ({each.details}), and explanations.toml does not say why"
        for each in found if (each.about, each.name) not in known
    ] + [
        f"{name}: explanations.toml says why {about}, which is not so; delete it"
        for about, name in sorted(known.keys() - there)
    ]  # fmt: skip
