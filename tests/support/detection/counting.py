"""Reports of detectors in programs of a suite, counted by what the exact judge finds.

Ref: ScoRD (ISCA'20) Section V; HiRace (SC'24); BARRACUDA (PLDI'17) Section 6.1.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, fields
from typing import Any

from racetrap.generators.presets import find_preset
from racetrap.golden_model.trace import Trace
from racetrap.verdict.causality.missed import outcomes
from racetrap.verdict.gpu.fit import region_of
from racetrap.verdict.gpu.oracle import ELSEWHERE, REPORTED
from racetrap.verdict.hirace import findings as hirace
from racetrap.verdict.scord import findings as scord
from tests.support.causality.judged import (
    UNLIMITED,
    Detects,
    Judged,
    causality,
    compare,
    params_for,
    verdict_on,
)
from tests.support.detection.suites import SUITES, Program


def _scord(trace: Trace) -> Iterable[Any]:
    params: Any = find_preset("scord-nocache").params
    return scord.find_races(trace, params, region_of(trace))[1]


def _hirace(trace: Trace) -> Iterable[Any]:
    params: Any = find_preset("hirace").params
    return hirace.find_races(trace, params)[1]


#: Forms of causality: without limits, with an entry for each word, as it is; with clocks that wrap
#: at 8 and 16; with so many entries of metadata for all words.
FORMS: dict[str, dict[str, int]] = {
    "causality-unlimited": UNLIMITED,
    "causality-nocache": {},
    "causality": {"ratio": 32},
    "causality, wraps at 8": {"clock_bits": 3},
    "causality, wraps at 16": {"clock_bits": 4},
    **{f"causality, {places} entries": {"places": places} for places in (4, 32, 256)},
}
#: Those whose misses have causes.
_EXPLAINED = ("causality-unlimited", "causality-nocache", "causality")
#: Detectors that are compared.
DETECTORS: dict[str, Detects] = {
    **{name: causality(**settings) for name, settings in FORMS.items()},
    "scord-nocache": _scord,
    "hirace": _hirace,
}


@dataclass
class Row:
    """Programs with a report, by what the judge calls them.

    Parameters
    ----------
    runs : int
        Traces of all programs.
    racy, found : int
        Racy programs, and those of them with a report.
    race_free, reported : int
        Race-free programs, and those of them with a report.
    ordered, strong : int
        Pairs of instructions that are reported and ordered, or unordered but free to conflict.
    outcomes : Counter of str
        Races of the judge in each run, by what became of them.
    missed, wrong, false, exempt : list of str
        Names of racy programs without a report, each with the causes; of those with an ordered
        pair; of race-free ones with a report; of those with a pair that is free to conflict.
    """

    runs: int = 0
    racy: int = 0
    found: int = 0
    race_free: int = 0
    reported: int = 0
    ordered: int = 0
    strong: int = 0
    outcomes: Counter[str] = field(default_factory=Counter)
    missed: list[str] = field(default_factory=list)
    wrong: list[str] = field(default_factory=list)
    false: list[str] = field(default_factory=list)
    exempt: list[str] = field(default_factory=list)

    def __add__(self, other: Row) -> Row:
        names = [each.name for each in fields(self)]
        return Row(*(getattr(self, name) + getattr(other, name) for name in names))


@dataclass(frozen=True)
class Part:
    """Some programs of a suite, to be counted for some detectors.

    Parameters
    ----------
    suite : str
        Name of the suite.
    first, last : int
        Its programs from one place to before another.
    detectors : tuple of str
        Names of the detectors.
    only : str
        Name of the one program that counts; empty if all do.
    """

    suite: str
    first: int
    last: int
    detectors: tuple[str, ...]
    only: str = ""


def count_part(part: Part) -> dict[str, Row]:
    """Rows of a part by detector."""
    programs = SUITES[part.suite].programs(part.first, part.last)
    return rows((each for each in programs if part.only in ("", each.name)), part.detectors)


def rows(suite: Iterable[Program], detectors: Iterable[str] = tuple(DETECTORS)) -> dict[str, Row]:
    """Count programs for some detectors."""
    counted = {name: Row() for name in detectors}
    for program in suite:
        found: dict[str, list[Judged]] = {name: [] for name in counted}
        causes = {name: Counter[str]() for name in counted}
        for trace in program.traces:
            verdict = verdict_on(trace)
            for name, judged in found.items():
                judged.append(compare(trace, verdict, DETECTORS[name]))
                if name in _EXPLAINED:
                    causes[name] += _outcomes(trace, judged[-1], FORMS[name])
        for name, row in counted.items():
            _count(row, program, found[name], causes[name])
    return counted


def _outcomes(trace: Trace, judged: Judged, settings: Mapping[str, int]) -> Counter[str]:
    """What became of each race of the judge: its pair is reported, the later of its instructions
    with another, or why neither is."""
    missed = [race for race in judged.found if frozenset((race.first.pc, race.second.pc))
              not in judged.reported]  # fmt: skip
    counts = Counter({REPORTED: len(judged.found) - len(missed)})
    if missed:
        found = outcomes(trace, params_for(trace, **settings), missed)
        counts.update(ELSEWHERE if each == REPORTED else each for each in found)
    return +counts


def _count(row: Row, program: Program, found: list[Judged], causes: Counter[str]) -> None:
    is_racy = program.racy
    if is_racy is None:
        is_racy = any(each.races for each in found)
    is_reported = any(each.reported for each in found)
    ordered = sum(len(each.ordered) for each in found)
    strong = sum(len(each.reported_strong) for each in found)
    row.runs += len(found)
    row.racy += is_racy
    row.found += is_racy and is_reported
    row.race_free += not is_racy
    row.reported += is_reported and not is_racy
    row.ordered += ordered
    row.strong += strong
    row.outcomes += causes
    if is_racy and not is_reported:
        row.missed.append(f"{program.name} ({', '.join(causes)})" if causes else program.name)
    if is_reported and not is_racy:
        row.false.append(program.name)
    if ordered:
        row.wrong.append(program.name)
    if strong:
        row.exempt.append(program.name)
