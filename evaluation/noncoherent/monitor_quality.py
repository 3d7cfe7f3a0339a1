"""The bus monitor's bounded sets against the detectors without limits.

What is compared is which operations break which rules.  Nothing may be lost, and what is reported
as definite must be there; what is there or not and is reported as possible is imprecise.
"""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, field, replace

from racetrap.evaluation.noncoherent.random_traces import RandomPart, Sums
from racetrap.golden_model.noncoherent.monitor import Monitor
from racetrap.golden_model.noncoherent.noncoherent import Noncoherent
from racetrap.golden_model.noncoherent.packets import bus_operation, rows_of, rules_of
from racetrap.golden_model.noncoherent.params import Mode, NoncoherentParams
from racetrap.golden_model.trace.noncoherent.operations import MemorySystem, Operation
from racetrap.sim.accelerator.compiled.detector import run_compiled
from racetrap.sim.accelerator.programs.catalogue import ACCELERATOR_PROGRAMS
from racetrap.sim.accelerator.programs.traces import record_program
from racetrap.sim.accelerator.random_operations import random_memory, random_operations

#: Addresses of programs that run on the host.
_ADDRESS_BITS = 48
_MOST_OPERATIONS = 60
_LINES = (2, 8, 32)
#: Entries of a set in random traces.
_ENTRIES = (2, 3, 4, 6, 8)


@dataclass
class MonitorQuality(Sums):
    """A monitor against the detector without limits, in pairs of an operation and a rule.

    Parameters
    ----------
    operations : int
        Operations of all traces.
    races : int
        Pairs that the detector without limits finds.
    definite, possible : int
        Pairs that the monitor reports as such.
    imprecise : int
        Possible ones that the detector without limits does not find.
    compactions : int
        How often two entries of a full set became one.
    lost, falsely_definite : list of str
        Pairs that the monitor does not report, and pairs that it wrongly reports as definite.
    """

    operations: int = 0
    races: int = 0
    definite: int = 0
    possible: int = 0
    imprecise: int = 0
    compactions: int = 0
    lost: list[str] = field(default_factory=list)
    falsely_definite: list[str] = field(default_factory=list)

    @property
    def problems(self) -> list[str]:
        """Violations of requirements on the monitor, in sentences."""
        return [
            *(f"Bus monitor must report {one}" for one in self.lost),
            *(f"Bus monitor must not report as definite {one}" for one in self.falsely_definite),
        ]


def merged_quality(parts: Iterable[MonitorQuality]) -> MonitorQuality:
    """Sums over parts."""
    total = MonitorQuality()
    for part in parts:
        total.add(part)
    return total


def params_for(memory: MemorySystem, mode: Mode, entries: int) -> NoncoherentParams:
    """Monitor of a given number of entries for some hardware."""
    return NoncoherentParams(
        **asdict(memory), mode=mode, entries=entries, address_bits=_ADDRESS_BITS
    )


def monitor_quality(
    params: NoncoherentParams, operations: Sequence[Operation], name: str
) -> MonitorQuality:
    """Compare on one trace; wrong pairs are labelled with its name."""
    monitor = Monitor(params)
    # Without source places, each row counts as a place of its own and is reported.
    rows = list(_rows(operations))
    detector = Noncoherent(params.memory, params.mode.value)
    found = run_compiled(detector, [row for _, row in rows]).races
    due = {(rows[race.later.number][0], race.rule.value) for race in found}
    definite: set[tuple[int, str]] = set()
    possible: set[tuple[int, str]] = set()
    for number, operation in enumerate(operations):
        for step in monitor.run(rows_of(params, bus_operation(params, number, operation))):
            for rule, hit in rules_of(step):
                (definite if hit.definite else possible).add((number, rule.value))
    possible -= definite
    return MonitorQuality(
        operations=len(operations),
        races=len(due),
        definite=len(definite),
        possible=len(possible),
        imprecise=len(possible - due),
        compactions=monitor.compactions,
        lost=_named(name, due - definite - possible),
        falsely_definite=_named(name, definite - due),
    )


def _rows(operations: Iterable[Operation]) -> Iterator[tuple[int, Operation]]:
    """Rows of all operations, each as an operation, with the number of its own one."""
    for number, operation in enumerate(operations):
        for first, last in operation.ranges:
            size = last + 1 - first if operation.size else 0
            yield number, operation._replace(address=first, size=size, rows=0, stride=0, pc=0)


def _named(trace: str, pairs: Iterable[tuple[int, str]]) -> list[str]:
    return [f"{trace}, operation {number}, rule {rule}" for number, rule in sorted(pairs)]


def random_quality(part: RandomPart) -> MonitorQuality:
    """Sums over random traces, each with one of the numbers of entries and one of the modes, half
    of those of mode ``thesis`` with a bitmap."""
    total = MonitorQuality()
    for number in range(part.first, part.last + 1):
        generator = random.Random(f"{part.seed}-{number}")
        memory = random_memory(generator)
        size = generator.choice(_LINES) * memory.line_bytes
        count = generator.randint(1, _MOST_OPERATIONS)
        operations = random_operations(generator, memory, count, size)
        params = params_for(memory, generator.choice(list(Mode)), generator.choice(_ENTRIES))
        # A bitmap holds dirty granules, which a cache that writes through has none of.
        if not params.is_strict and not params.write_through and generator.randrange(2):
            params = _with_bitmap(params, generator)
        total.add(monitor_quality(params, operations, f"trace {part.seed}-{number}"))
    return total


def _with_bitmap(params: NoncoherentParams, generator: random.Random) -> NoncoherentParams:
    """A window that has all of a trace's bytes, some of them or none."""
    word = params.word_bytes
    return replace(
        params, window_bytes=word * generator.choice((2, 16)),
        window_base=word * generator.randrange(3),
    )  # fmt: skip


@dataclass(frozen=True)
class ProgramQuality:
    """A program, whole and with each omission, in both modes with so many entries."""

    program: str
    entries: tuple[int, ...]


def program_quality(part: ProgramQuality) -> dict[int, MonitorQuality]:
    """Sums over the cases of a program by number of entries."""
    program = ACCELERATOR_PROGRAMS[part.program]
    totals = {entries: MonitorQuality() for entries in part.entries}
    for omission in ("", *program.omissions):
        trace = record_program(program, program.small, *([omission] if omission else []))
        operations, name = list(trace), f"{part.program} without {omission or 'nothing'}"
        for entries, total in totals.items():
            for mode in Mode:
                params = params_for(trace.header.memory, mode, entries)
                total.add(monitor_quality(params, operations, name))
    return totals
