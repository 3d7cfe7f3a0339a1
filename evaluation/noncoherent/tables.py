"""All tables of the evaluation with accelerators, with the thesis' figures beside our own.

Ref: Young (UBC 2020) Chapter 5.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field

from racetrap.evaluation.noncoherent.fixpoint import Fixpoint
from racetrap.evaluation.noncoherent.live import LiveCase, live_problems
from racetrap.evaluation.noncoherent.monitor_cycles import ProgramCycles
from racetrap.evaluation.noncoherent.monitor_quality import MonitorQuality
from racetrap.evaluation.noncoherent.programs import ProgramCase, program_problems
from racetrap.evaluation.noncoherent.published import PUBLISHED, rules_of
from racetrap.evaluation.noncoherent.random_traces import RandomResult
from racetrap.evaluation.noncoherent.runtimes import PAPER, AnalysisTime
from racetrap.evaluation.table import Table
from racetrap.golden_model.trace.noncoherent.operations import MemorySystem
from racetrap.sim.accelerator.programs.catalogue import ACCELERATOR_PROGRAMS

#: A machine whose lines are no longer than the padding of the thesis' allocator.
_SHORT_LINES = MemorySystem(line_bytes=16, granule_bytes=16)


@dataclass
class Evaluation:
    """Results of the evaluation.

    Parameters
    ----------
    cases : list of ProgramCase
        Programs, whole and with something left out.
    random : RandomResult
        Random traces.
    fixpoints : list of Fixpoint
        Tiny machines.
    times : list of AnalysisTime
        Programs at the sizes of the originals.
    monitors : dict of str to (dict of int to MonitorQuality)
        The bus monitor on each program, by its entries.
    random_monitor : MonitorQuality
        The bus monitor on random traces.
    cycles : list of ProgramCycles
        Programs on the generated bus monitor.
    live : list of LiveCase
        Programs on the live system.
    """

    cases: list[ProgramCase] = field(default_factory=list)
    random: RandomResult = field(default_factory=RandomResult)
    fixpoints: list[Fixpoint] = field(default_factory=list)
    times: list[AnalysisTime] = field(default_factory=list)
    monitors: dict[str, dict[int, MonitorQuality]] = field(default_factory=dict)
    random_monitor: MonitorQuality = field(default_factory=MonitorQuality)
    cycles: list[ProgramCycles] = field(default_factory=list)
    live: list[LiveCase] = field(default_factory=list)


def make_tables(found: Evaluation) -> list[Table]:
    """Tables in the order in which they are shown."""
    tables = [
        _published(),
        _programs(found.cases),
        _times(found.times),
        _random(found.random),
        _differences(found.random),
        _fixpoints(found.fixpoints),
        _monitors(found.monitors, found.random_monitor),
        _cycles(found.cycles),
        _live(found.live),
    ]
    return [table for table in tables if table.rows]


def problems(found: Evaluation) -> list[str]:
    """Violations of requirements on the evaluation, in sentences."""
    published = [
        f"Trace {trace.name} must give {', '.join(trace.rules) or 'no race'} in mode thesis"
        for trace in PUBLISHED
        if rules_of(trace, "thesis") != trace.rules
    ]
    random = [
        f"Random trace {number}: mode strict must agree with the exhaustive machine"
        for number in found.random.differing
    ]
    fixpoints = [
        f"Tiny machine {one.machine}: mode strict must agree with the exhaustive machine"
        for one in found.fixpoints
        if one.missed or one.added
    ]
    monitors = [
        problem
        for one in (
            found.random_monitor, *(each for some in found.monitors.values()
                                    for each in some.values()),
        )
        for problem in one.problems
    ]  # fmt: skip
    cycles = [f"{one.program}: {one.difference}" for one in found.cycles if one.difference]
    return [
        *published, *program_problems(found.cases), *random, *fixpoints, *monitors, *cycles,
        *live_problems(found.live),
    ]  # fmt: skip


def _words(rules: Iterable[str]) -> str:
    return ", ".join(rules) or "none"


def _published() -> Table:
    rows = tuple(
        (
            trace.name,
            trace.paper,
            _words(rules_of(trace, "thesis")),
            _words(rules_of(trace, "strict")),
            _words(rules_of(trace, "strict", _SHORT_LINES)),
            trace.note,
        )
        for trace in PUBLISHED
    )
    return Table(
        "published",
        "Published traces and races",
        "Figures 4.3 and 5.2 to 5.4 and Section 5.3, with the thesis' addresses and lines of 64 "
        "bytes. The thesis' tool stops at the first race.",
        ("trace", "paper", "thesis", "strict", "strict, lines of 16 bytes", "note"),
        rows,
    )


def _programs(cases: Sequence[ProgramCase]) -> Table:
    rows = tuple(
        (
            case.program,
            case.omission,
            case.operations,
            _words(case.strict),
            _words(case.thesis),
            case.racy_bytes,
            f"{case.wrong} of {case.timings}",
            case.explanation,
        )
        for case in cases
    )
    return Table(
        "programs",
        "Table 5.1 and Section 5.4: programs, and what is left out of them",
        "Wrong: runs under random timings whose result is another than without deferral.",
        ("program", "left out", "operations", "strict", "thesis", "racy bytes", "wrong",
         "explanation"),
        rows,
    )  # fmt: skip


def _times(times: Sequence[AnalysisTime]) -> Table:
    rows = tuple(
        (
            ACCELERATOR_PROGRAMS[one.program].thesis_name,
            PAPER.get(one.program, (None, None))[0],
            one.operations,
            PAPER.get(one.program, (None, None))[1],
            one.seconds["thesis"],
            one.seconds["strict"],
            one.most_runs,
        )
        for one in times
    )
    return Table(
        "figure-5.1",
        "Figure 5.1: time of the analysis, in seconds",
        "The thesis gives two of its eleven in numbers; the other nine took less than 45 minutes. "
        "Our recorder makes one operation of more accesses than the thesis' consolidation. "
        "Runs: most that all sets of mode strict hold together.",
        ("program", "paper lines", "operations", "paper seconds", "thesis", "strict", "runs"),
        rows,
    )


def _random(found: RandomResult) -> Table:
    rows = tuple(
        (mode, found.traces, found.racy, counts.same, counts.missed, counts.added)
        for mode, counts in found.modes.items()
        if found.traces
    )
    return Table(
        "random-traces",
        "First racy operation of random traces, against the exhaustive machine",
        "Missed: the mode has it later or not at all. Added: it has one before.",
        ("mode", "traces", "racy", "same", "missed", "added"),
        rows,
    )


def _differences(found: RandomResult) -> Table:
    counted = {
        (mode, what, why): count
        for mode, counts in found.modes.items()
        for what, reasons in (
            ("missed", counts.missed_by_rule), ("added", counts.added_by_class),
        )
        for why, count in reasons.items()
    }  # fmt: skip
    rows = tuple((*key, count) for key, count in sorted(counted.items()))
    return Table(
        "random-differences",
        "Why the modes differ from the machine",
        "Missed: rules of mode strict there. Added: false sharing, or the mode's rules.",
        ("mode", "what", "why", "traces"),
        rows,
    )


def _fixpoints(fixpoints: Sequence[Fixpoint]) -> Table:
    rows = tuple(
        (
            one.machine.memory.line_bytes,
            one.machine.memory.granule_bytes,
            one.machine.memory.engines,
            one.machine.outstanding,
            _options(one.machine.memory),
            one.states,
            one.steps,
            one.racy,
            one.missed,
            one.added,
        )
        for one in fixpoints
    )
    return Table(
        "fixpoints",
        "Traces of any length on machines of one line",
        "Every state of machine and rules, with every operation in each.",
        ("line", "granule", "engines", "DMA an engine", "options", "states", "steps", "racy",
         "missed", "added"),
        rows,
    )  # fmt: skip


def _monitors(
    programs: Mapping[str, Mapping[int, MonitorQuality]], random: MonitorQuality
) -> Table:
    named: list[tuple[str, int | str, MonitorQuality]] = [
        (name, entries, one) for name, some in programs.items() for entries, one in some.items()
    ]
    if random.operations:
        named.append(("random traces", "2 to 8", random))
    rows = tuple(
        (
            name,
            entries,
            one.operations,
            one.races,
            one.definite,
            one.possible,
            one.imprecise,
            one.compactions,
            len(one.lost),
            len(one.falsely_definite),
        )
        for name, entries, one in named
    )
    return Table(
        "monitor",
        "The bus monitor's bounded sets against the detectors without limits",
        "Both modes together, programs whole and with each omission. Races are pairs of an "
        "operation and a rule. Imprecise: reported as possible, and not there. Merges: two entries "
        "of a full set became one.",
        ("program", "entries", "operations", "races", "definite", "possible", "imprecise",
         "merges", "lost", "falsely definite"),
        rows,
    )  # fmt: skip


def _cycles(programs: Sequence[ProgramCycles]) -> Table:
    rows = tuple(
        (one.program, one.rows, one.cycles, f"{one.cycles / one.rows:.3f}", one.merges)
        for one in programs
        if one.rows
    )
    return Table(
        "monitor-cycles",
        "Programs on the generated bus monitor",
        "Mode strict, 8 entries a set, an operation offered in each cycle; every step agrees with "
        "the golden model. Merges: two entries of a full set became one.",
        ("program", "rows", "cycles", "cycles a row", "merges"),
        rows,
    )


def _live(cases: Sequence[LiveCase]) -> Table:
    rows = tuple(
        (
            case.program,
            case.omission,
            "yes" if case.is_harmful else "no",
            "yes" if case.is_reported else "no",
            f"under delay {case.runs}" if case.is_wrong else f"never under {case.runs}",
        )
        for case in cases
    )
    return Table(
        "live",
        "Programs on the live system, under one delay of the engine after another",
        "Harmful: bytes race on the exhaustive machine. Wrong: the first delay under which a read "
        "gives other data than coherent memory would have held; without a report, only one delay "
        "is tried.",
        ("program", "left out", "harmful", "reported", "wrong"),
        rows,
    )


def _options(memory: MemorySystem) -> str:
    return ", ".join(name for name, flag in asdict(memory).items() if flag is True)
