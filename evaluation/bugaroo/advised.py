"""Advice on programs whose author is known to have left something out, or put too much in.

What the author has left out is read off two sequentially consistent runs, of the right program and
of the one that lacks it: fences, and scopes and orders of strong accesses, that only the right one
has.  Advice is as the author would put it if each fence stands before an access that the author's
comes before, too, with no other access between.

Ref: Bugaroo Section III-D; ScoRD (ISCA'20) Table VI.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from time import perf_counter

import numpy as np

from racetrap.evaluation.bugaroo.workload_subject import WorkloadSubject
from racetrap.evaluation.table import Table
from racetrap.golden_model.call_stacks import chain_of
from racetrap.golden_model.events import EventKind, TraceHeader
from racetrap.golden_model.trace import Trace
from racetrap.sim.gpu.launch.kernel_files import kernel_folder
from racetrap.sim.gpu.ptx.module import Module
from racetrap.sim.gpu.ptx.parser import parse_ptx
from racetrap.sim.gpu.stress.advice import Advice, AdvisedChange, Advisor
from racetrap.sim.gpu.stress.kernel_subject import KernelSubject
from racetrap.sim.gpu.stress.subject import Subject
from racetrap.sim.gpu.stress.synchronisation import Synchronisation
from racetrap.sim.gpu.suites.weak_memory.launches import launch_of
from racetrap.sim.gpu.suites.weak_memory.programs import PROGRAMS, Program, Variant
from racetrap.sim.gpu.suites.weak_memory.runner import variant_module, with_kernels
from racetrap.sim.gpu.workloads.registry import WORKLOADS

_SUITE = "racetrap.sim.gpu.suites.weak_memory"
#: Line of a fence that is added on purpose: none stands there.
_ADDED_LINE = 1
#: Line and mode of what synchronises.
_Sync = tuple[str, int, int, int]


@dataclass(frozen=True)
class AdviceRun:
    """A program to be advised on; plain data, for a worker process.

    Parameters
    ----------
    program, variant : str
        A program of weak memory and its variant, or an application and its race switch.
    runs : int
        Random runs, and systematic ones, of each question.
    seed : int
        Seed of the first.
    """

    program: str
    variant: str
    runs: int
    seed: int


@dataclass(frozen=True)
class Advised:
    """Advice on a program.

    Parameters
    ----------
    program, variant, lacks : str
        What it is, and what it lacks.
    author : tuple of str
        Lines of the author's synchronisation that only the right program has.
    advice : Advice, optional
        The advice; nothing if the program is wrong already on sequentially consistent memory.
    verdict : str
        How they compare.
    seconds : float
        What it took.
    """

    program: str
    variant: str
    lacks: str
    author: tuple[str, ...]
    advice: Advice | None
    verdict: str
    seconds: float


def advice_runs(names: Collection[str], runs: int, seed: int) -> list[AdviceRun]:
    """Every variant of every program, and every race switch of every application; of those of
    some names if there are any."""
    pairs = [(each.name, variant.name) for each in PROGRAMS.values() for variant in each.variants]
    pairs += [(each.name, switch.name) for each in WORKLOADS.values() for switch in each.switches]
    return [
        AdviceRun(program, variant, runs, seed)
        for program, variant in pairs
        if not names or program in names
    ]


def advise(run: AdviceRun) -> Advised:
    """Advise on a program."""
    begin = perf_counter()
    if run.program in WORKLOADS:
        found = _advise_application(run)
    else:
        program = PROGRAMS[run.program]
        variant = program.variant(run.variant)
        found = (_advise_lacking if variant.lacks else _advise_right)(run, program, variant)
    lacks, author, advice, verdict = found
    seconds = perf_counter() - begin
    return Advised(run.program, run.variant, lacks, author, advice, verdict, seconds)


_Found = tuple[str, tuple[str, ...], Advice | None, str]


def _advice_on(run: AdviceRun, subject: Subject) -> Advice:
    return Advisor(subject, "views", run.runs, run.runs, run.seed).advise()


def _advise_right(run: AdviceRun, program: Program, variant: Variant) -> _Found:
    """Advice on a right variant with a fence added on purpose, if it has any fence."""
    launch = launch_of(program, variant)
    module, added = _with_a_fence(program, [table.kernel for _, table in launch.launches])
    advice = _advice_on(run, KernelSubject(module, launch))
    removed = [change for change in advice.changes if change[:2] == ("remove", added)]
    others = [_text(change) for change in advice.changes if change not in removed]
    verdict = "the added fence alone" if removed else "the added fence is not named"
    verdict += f"; besides: {'; '.join(others)}" if others else ""
    return "nothing", (added,), advice, verdict


def _with_a_fence(program: Program, kernels: Sequence[str]) -> tuple[Module, str]:
    """The program with a fence of the device at the beginning of kernels, and its line."""
    path = kernel_folder(_SUITE) / f"{program.name}.ptx"
    text = path.read_text(encoding="utf-8")
    for kernel in dict.fromkeys(kernels):
        start = text.index("{", text.index(f".entry {kernel}("))
        start = text.index("\t.loc", start)
        file = text[start:].split()[1]
        text = f"{text[:start]}\t.loc\t{file} {_ADDED_LINE} 1\n\tmembar.gl;\n{text[start:]}"
    module = with_kernels(parse_ptx(text, path.name), kernels)
    fences = Synchronisation(module.functions.values()).fences
    return module, next(place for place in fences if place.endswith(f":{_ADDED_LINE}"))


def _advise_lacking(run: AdviceRun, program: Program, variant: Variant) -> _Found:
    right = [
        KernelSubject(variant_module(program, each), launch_of(program, each))
        for each in program.variants
        if not each.lacks
    ]
    lacking = KernelSubject(variant_module(program, variant), launch_of(program, variant))
    return (variant.what_lacks, *_compare(run, right, lacking))


def _advise_application(run: AdviceRun) -> _Found:
    right = WorkloadSubject(run.program, ())
    lacks = next(
        each.description for each in WORKLOADS[run.program].switches if each.name == run.variant
    )
    try:
        racy = WorkloadSubject(run.program, (run.variant,))
    except ValueError:
        return lacks, (), None, "wrong on sequentially consistent memory"
    return (lacks, *_compare(run, [right], racy))


def _compare(
    run: AdviceRun, right: Sequence[Subject], lacking: Subject
) -> tuple[tuple[str, ...], Advice, str]:
    """Advice on a subject, beside what the most similar right one has in addition."""
    has = _synchronisation(lacking.traces[0])
    author = min(right, key=lambda each: len(_synchronisation(each.traces[0]) ^ has))
    places = _missing_places(author.traces[0], lacking.traces[0])
    advice = _advice_on(run, lacking)
    return tuple(sorted(places)), advice, _verdict(advice, places, author, lacking)


def _missing_places(right: Trace, lacking: Trace) -> set[str]:
    """Lines of what a right run has and the other lacks."""
    # The other's counterpart counts as well: a narrower one may be at another line.
    missing = _synchronisation(right) ^ _synchronisation(lacking)
    if not missing:  # some warps alone lack it
        warps = _synchronising_warps(right) ^ _synchronising_warps(lacking)
        missing = {sync for _, sync in warps}
    return {place for place, *_ in missing}


def _verdict(advice: Advice, places: set[str], author: Subject, lacking: Subject) -> str:
    """Comparison of advice with the author's synchronisation at some lines."""
    if not advice.cured:
        return "no fences cure it"
    if not advice.changes or any(change.action in _LESS for change in advice.changes):
        return "not exposed"
    behind = Synchronisation(author.functions).behind
    slots = places.union(*(behind.get(place, ()) for place in places))
    following = Synchronisation(lacking.functions).following
    elsewhere = [
        change.place for change in advice.changes
        if not slots.issuperset(
            following(change.place) if change.action == "insert_after" else {change.place}
        )
    ]  # fmt: skip
    return f"elsewhere: {', '.join(elsewhere)}" if elsewhere else "as the author"


#: Actions of advice on a program that does not fail.
_LESS = ("remove", "narrow", "weaken")


def _synchronisation(trace: Trace) -> set[_Sync]:
    """Fences and strong accesses of a run by line."""
    return {sync for _, sync in _synchronising_warps(trace)}


def _synchronising_warps(trace: Trace) -> set[tuple[tuple[int, int], _Sync]]:
    """The same, each with the block and warp that executes it."""
    events, locations = trace.events, _own_places(trace.header)
    synchronises = (events["kind"] == EventKind.FENCE) | (
        (events["kind"] <= EventKind.ATOMIC) & (events["strong"] != 0)
    )
    modes = np.unique(events[["grid_block", "warp", "pc", "kind", "scope", "order"]][synchronises])
    return {
        ((block, warp), (locations.get(pc, ""), kind, scope, order))
        for block, warp, pc, kind, scope, order in modes.tolist()
    }


def _own_places(header: TraceHeader) -> dict[int, str]:
    """Places of program counters in the file of their kernel, as advice has them."""
    found = {}
    for pc, place in header.locations.items():
        chain = chain_of(place, header.frames, header.stacks.get(pc, 0))
        files = [each.rpartition(":")[0] for each in chain]
        found[pc] = chain[files.index(files[-1])]
    return found


def _text(change: AdvisedChange) -> str:
    return f"{change.action} {change.what} {change.place}"


def advice_table(advised: Sequence[Advised]) -> Table:
    """Advice on each program beside its author's synchronisation."""
    return Table(
        "advice", "Advice on programs, beside what their authors have",
        "Right variants have a fence of no use added at line 1.  Instead: orders of accesses that "
        "are there and do the same.",
        ("program", "variant", "lacks", "author's lines", "advice", "instead", "verdict",
         "seconds"),
        tuple(
            (each.program, each.variant, each.lacks, ", ".join(each.author) or None,
             *_changes(each.advice), each.verdict, round(each.seconds, 1))
            for each in advised
        ),
    )  # fmt: skip


def _changes(advice: Advice | None) -> Iterator[str | None]:
    for changes in (advice.changes, advice.instead) if advice else ((), ()):
        yield "; ".join(map(_text, changes)) or None
