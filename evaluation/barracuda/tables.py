"""Tables of BARRACUDA's evaluation, beside the paper's figures."""

from __future__ import annotations

from collections.abc import Collection, Iterable

from racetrap.evaluation.barracuda.measure import RULES, WAYS, Measured
from racetrap.evaluation.barracuda.small_kernels import KernelVerdict
from racetrap.evaluation.barracuda.witnesses import WITNESSES
from racetrap.evaluation.table import Cell, Table
from racetrap.sim.gpu.suites.barracuda.benchmarks import BENCHMARKS
from racetrap.sim.gpu.suites.concurrency.cases import CASES


def make_tables(measured: Collection[Measured], kernels: Collection[KernelVerdict]) -> list[Table]:
    """Every table for which there are rows."""
    tables = []
    if measured:
        tables += [_table_1(measured), _figure_9(measured), _figure_10(measured)]
    if kernels:
        tables += [_small_kernels(kernels), _wrong(kernels)]
    return tables


def problems_of(measured: Iterable[Measured], kernels: Iterable[KernelVerdict]) -> list[str]:
    """Programs that failed, and kernels whose witnesses differ from the truth, in sentences."""
    found = [f"{each.name} {problem}" for each in measured for problem in each.problems]
    for kernel in kernels:
        if bool(kernel.witnesses) != kernel.is_racy:
            seen = ", ".join(kernel.witnesses) or "none"
            meant = "racy" if kernel.is_racy else "race-free"
            found.append(f"{kernel.name} is {meant}, but its runs show these witnesses: {seen}")
    return found


def _table_1(measured: Iterable[Measured]) -> Table:
    rows: list[tuple[Cell, ...]] = []
    for each in measured:
        own, spaces = BENCHMARKS[each.name], ("global", "shared")
        paper = own.paper
        rows.append((
            each.name, own.stands_in, each.instructions, paper.instructions, each.threads,
            paper.threads, *(each.races[f"barracuda, {space}"] for space in spaces),
            *(each.races_of(rule) for rule in RULES[1:]),
            f"{paper.races} {paper.space}" if paper.races else "0", own.difference,
        ))  # fmt: skip
    return Table(
        "table-1", "Table 1: benchmarks, and races found in them",
        "A race is a pair of PTX instructions with a race in one of the schedules.",
        ("benchmark", "stands in", "instructions", "paper: instructions", "threads",
         "paper: threads", "barracuda, global", "barracuda, shared", *RULES[1:],
         "paper: races", "difference"),
        tuple(rows),
    )  # fmt: skip


def _figure_9(measured: Iterable[Measured]) -> Table:
    return Table(
        "figure-9", "Figure 9: static instructions with a logging call, in percent",
        "The paper's are at most half of the instructions before pruning.",
        ("benchmark", "before pruning", "after pruning"),
        tuple(
            (each.name, each.percent(each.logged), each.percent(each.left)) for each in measured
        ),
    )  # fmt: skip


def _figure_10(measured: Iterable[Measured]) -> Table:
    base, *others = WAYS

    def row(each: Measured) -> tuple[Cell, ...]:
        return (
            each.name, each.events, round(each.costs[base].seconds, 3),
            *(each.factor(way) for way in others),
            *(each.costs[way].mebibytes for way in WAYS),
        )  # fmt: skip

    return Table(
        "figure-10", "Figure 10: checked run over untraced run, and peak memory",
        "CPU time of the executor, the kernels translated beforehand; the paper's base is a GPU.",
        ("benchmark", "events", f"{base}, s", *(f"{way}, times" for way in others),
         *(f"{way}, MiB" for way in WAYS)),
        tuple(map(row, measured)),
    )  # fmt: skip


def _small_kernels(kernels: Collection[KernelVerdict]) -> Table:
    def count(what: str, chosen: Iterable[KernelVerdict]) -> tuple[Cell, ...]:
        racy = [each.is_racy for each in chosen]
        return what, sum(racy), len(racy) - sum(racy)

    rows = [
        count("kernels", kernels),
        count("a witness", [each for each in kernels if each.witnesses]),
        *(count(f"witness: {kind}", [each for each in kernels if kind in each.witnesses])
          for kind in WITNESSES),
        *(count(f"a race by {rule}", [each for each in kernels if rule in each.racy_by])
          for rule in RULES),
    ]  # fmt: skip
    return Table(
        "small-kernels", "Small kernels: witnesses of races, and verdicts, of racy and others",
        "A kernel is racy by the suite's truth, which runs confirm by witnesses.",
        ("with", "racy", "race-free"), tuple(rows),
    )  # fmt: skip


def _wrong(kernels: Iterable[KernelVerdict]) -> Table:
    rows = tuple(
        (
            each.name, "racy" if each.is_racy else "race-free", ", ".join(each.witnesses) or "none",
            ", ".join(each.wrong_rules), CASES[each.name].truth_reason,
        )
        for each in kernels if each.wrong_rules
    )  # fmt: skip
    return Table(
        "wrong-verdicts", "Small kernels on which a rule's verdict is not the truth", "",
        ("kernel", "truth", "witnesses", "wrong", "why"), rows,
    )  # fmt: skip
