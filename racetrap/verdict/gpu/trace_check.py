"""Verdict on traces of a GPU: the exact oracle, and a detector's outcomes.

Ref: ScoRD (ISCA'20) Sections II and V-A; BARRACUDA (PLDI'17) Section 3.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from racetrap.golden_model.barracuda import Race
from racetrap.golden_model.events import Event, TraceHeader
from racetrap.golden_model.trace import Trace
from racetrap.sim.gpu.oracle import JUDGE, Judgement, judge_trace
from racetrap.verdict.gpu.causes import causes_of
from racetrap.verdict.gpu.detector_verdict import Model, verdict_of
from racetrap.verdict.gpu.findings import Finding, Reports, UniqueRace
from racetrap.verdict.gpu.line_races import finding_races, named_causes, oracle_races_by_line
from racetrap.verdict.gpu.oracle import (
    OracleRace,
    explain_races,
    is_missed,
    racing_pairs,
    unconfirmed,
)
from racetrap.verdict.gpu.shortfalls import shortfall_of
from racetrap.verdict.gpu.timelines import timeline_of, tracks_of
from racetrap.verdict.line_pairs import LinePair, LinePairs, LineRace, place_of
from racetrap.verdict.source_text import header_beside
from racetrap.verdict.timeline import Timeline

if TYPE_CHECKING:
    from racetrap.verdict.baseline import Baseline, KnownRace


#: Runs a schedule again and keeps, of its weak accesses, those of some program counters or all.
Again = Callable[[Collection[int] | None], Trace]

#: Preset of the detector that misses least: each word has its own metadata.
MOST_FINDING = "scord-nocache"


@dataclass(frozen=True)
class Detector:
    """A detector that checks the traces, too.

    Parameters
    ----------
    name : str
        Its preset.
    params : GpuParams
        Its configuration.
    is_asked_for : bool
        Whether the user has named it.
    """

    name: str
    params: Any
    is_asked_for: bool = True


@dataclass(frozen=True)
class Divergence:
    """A barrier that not all threads of a block reached.

    Parameters
    ----------
    place : str
        Line of the barrier.
    thread, grid_block : int
        First missing thread, and its block.
    """

    place: str
    thread: int
    grid_block: int


@dataclass(frozen=True)
class DetectorRun:
    """Result of a detector on one trace.

    Parameters
    ----------
    model : Model
        The model after the run.
    outcomes : list of OracleRace
        Races of the oracle, each with its outcome.
    unordered_strong : list of Race
        Pairs that the oracle lists, but not as races.
    ordered_by_lockstep : list of Race
        Pairs that only the lockstep of a warp's lanes orders.
    unconfirmed : list of (str, str)
        Reports without a race of the oracle: their line, and the kind in words.
    imposed : list of (str, str)
        Reports imposed by the method on pairs that are not races by the oracle.
    shared : int
        Number of warp accesses to unmonitored shared memory.
    """

    model: Model
    outcomes: list[OracleRace]
    unordered_strong: list[Race]
    ordered_by_lockstep: list[Race]
    unconfirmed: list[tuple[str, str]]
    imposed: list[tuple[str, str]]
    shared: int

    @property
    def unique(self) -> set[UniqueRace]:
        """Different races that it reports."""
        return set(self.model.unique)

    @property
    def missed(self) -> int:
        """Races that it should have found and did not."""
        return sum(map(is_missed, self.outcomes))


class TraceCheck:
    """Traces of one subject, one for each schedule, and their findings.

    Parameters
    ----------
    baseline : Baseline, optional
        Known races, which do not count.
    rule : str or None
        Rule of the oracle, whose verdict counts; without it the detector's counts.
    detector : Detector, optional
        Detector that also checks the traces.
    folder : Path, optional
        Folder of sources that traces name without a folder.

    Attributes
    ----------
    baseline, rule, detector
        As given.
    independent : bool
        Whether the lanes of a warp were scheduled independently in any of the traces.
    events : list of int
        Events of each trace.
    ended_early : int
        Traces that end with the fault of a kernel.
    partly_judged : int
        Locations, of all traces, with accesses that may race with some that were no longer kept.
    hangs : bool
        Whether a kernel would not end in one of the runs, as far as the caller says so.
    faults, outside, results : list of str
        Faults that ended kernels, loads from outside all memory, and unexpected final contents of
        memory, in sentences, over all traces, each once.
    divergences : dict of str to Divergence
        By place.
    detector_runs : list of DetectorRun
        One of each trace, if there is a detector.
    counters : dict of str to int
        Counters of the detector, of all traces.
    ending : str
        Why no further schedule was run; empty if their number was given.
    """

    def __init__(
        self, baseline: Baseline | None = None, rule: str | None = JUDGE,
        detector: Detector | None = None, folder: Path = Path(),
    ) -> None:  # fmt: skip
        self.baseline = baseline
        self.rule, self.detector, self.independent = rule, detector, False
        self._folder = folder
        self.events: list[int] = []
        self.ended_early, self.ending, self.hangs = 0, "", False
        self.partly_judged = 0
        self.faults: list[str] = []
        self.outside: list[str] = []
        self.results: list[str] = []
        self.divergences: dict[str, Divergence] = {}
        self.detector_runs: list[DetectorRun] = []
        self.counters: Counter[str] = Counter()
        self._pairs, self._strong, self._lockstep = LinePairs(), LinePairs(), LinePairs()

    def add(
        self,
        trace: Trace,
        events: Iterable[Event] | None = None,
        found: Callable[[Finding], object] = lambda finding: None,
        judgement: Judgement | None = None,
        again: Again | None = None,
    ) -> None:
        """Check one more trace.

        Parameters
        ----------
        trace : Trace
            The trace.
        events : iterable of Event, optional
            Its events, if wrapped by the caller.
        found : callable
            Receives every race that the detector reports; if the detector judges, except those in
            the baseline.
        judgement : Judgement, optional
            What the oracle has found while the run went on, if its events are not in the trace.
        again : callable, optional
            Runs the same schedule again, for the causes of what was found.

        Raises
        ------
        ValueError
            If the trace does not fit the detector.
        """
        header = header_beside(trace.header, self._folder)
        locations = header.locations
        model, reports = self._detect(trace, events, found, header)
        outcomes: list[OracleRace] = []
        strong: list[Race] = []
        lockstep: list[Race] = []
        imposed: list[UniqueRace] = []
        strays: list[UniqueRace] = []
        if self.rule is not None:
            outcomes, strong, lockstep = self._judge(trace, judgement, again, reports, header)
            lone = unconfirmed(reports, racing_pairs(each.race for each in outcomes))
            if lone and self.detector is not None:
                own = verdict_of(self.detector.params)
                imposed = own.imposed(trace, self.rule, {each: reports[each] for each in lone})
            strays = [report for report in lone if report not in imposed]
        if model is not None and self.detector is not None:
            own = verdict_of(self.detector.params)

            def in_words(found: Iterable[UniqueRace]) -> list[tuple[str, str]]:
                return [(place_of(pc, locations), own.race_words(kind)) for pc, kind in found]

            self.detector_runs.append(DetectorRun(
                model, outcomes, strong, lockstep, in_words(strays), in_words(imposed),
                own.unwatched_shared(trace, self.detector.params),
            ))  # fmt: skip
            self.counters.update(model.counters)
        self.events.append(judgement.events if judgement else len(trace))
        self.independent |= bool(header.independent_threads)
        self.ended_early += bool(header.faults)
        for said, sentences in (
            (self.faults, header.faults), (self.outside, header.outside),
            (self.results, header.results),
        ):  # fmt: skip
            said += [each for each in dict.fromkeys(sentences.values()) if each not in said]

    def _detect(
        self, trace: Trace, events: Iterable[Event] | None, found: Callable[[Finding], object],
        header: TraceHeader,
    ) -> tuple[Model | None, Reports]:  # fmt: skip
        reports: defaultdict[UniqueRace, set[int]] = defaultdict(set)
        if self.detector is None:
            return None, reports
        in_lines = finding_races(header, trace.events) if self.rule is None else None
        own = verdict_of(self.detector.params)
        model, findings = own.find_races(trace, self.detector.params, events)
        for finding in findings:
            reports[finding.report.key].add(finding.earlier.pc)
            if in_lines is not None:
                race = in_lines(finding)
                self._pairs.add([race], len(self.events))
                if self.baseline is not None and self.baseline.knows(race.places):
                    continue
            found(finding)
        return model, reports

    def _judge(
        self, trace: Trace, judgement: Judgement | None, again: Again | None,
        reports: Collection[UniqueRace], header: TraceHeader,
    ) -> tuple[list[OracleRace], list[Race], list[Race]]:  # fmt: skip
        assert self.rule is not None
        number, rule = len(self.events), self.rule
        independent = bool(header.independent_threads)
        if judgement is None:
            judgement = judge_trace(trace, rule, independent)
        elif judgement.has_concurrent_kernels and again is not None:
            trace = again(None)
            judgement = judge_trace(trace, rule, independent)
        judged, told, untold = judgement.result, judgement.result.races, []
        if len(trace) < judgement.events:
            told, untold = [], told
        if untold and again is not None:
            trace = again({party.pc for race in untold for party in (race.first, race.second)})
            told, untold = _as_in(judge_trace(trace, rule, independent).result, untold)
        outcomes = (
            explain_races(trace, self.detector.params, told, reports) if self.detector else []
        )
        self._pairs.add(
            oracle_races_by_line(
                told, header, [each.outcome for each in outcomes],
                named_causes(causes_of(trace, rule, told, independent), header, trace.events),
            ),
            number,
        )  # fmt: skip
        self._pairs.add(oracle_races_by_line(untold, header), number)
        for pair in self._pairs.found.values():
            if pair.first.make_timeline is None and pair.first.cause is not None:
                pair.first = _with_threads(pair.first, trace, header)
        self.partly_judged += judged.partly_judged
        lockstep = judgement.ordered_by_lockstep
        self._strong.add(oracle_races_by_line(judged.unordered_strong, header), number)
        self._lockstep.add(oracle_races_by_line(lockstep, header), number)
        for each in judged.barrier_divergences:
            place = place_of(each.pc, header.locations)
            self.divergences.setdefault(place, Divergence(place, each.thread, each.grid_block))
        return outcomes, judged.unordered_strong, lockstep

    @property
    def pairs(self) -> list[LinePair]:
        """New races by pair of source lines, those with the most instances first."""
        return self._pairs.divide(self.baseline).new

    @property
    def known(self) -> list[LinePair]:
        """Races of the baseline that were found."""
        return self._pairs.divide(self.baseline).known

    @property
    def not_found(self) -> list[KnownRace]:
        """Races of the baseline that were not found."""
        return self._pairs.divide(self.baseline).not_found

    @property
    def strong(self) -> list[LinePair]:
        """Unordered pairs that are not races by the rule."""
        return self._strong.by_instances

    @property
    def lockstep(self) -> list[LinePair]:
        """Pairs that only the lockstep of a warp's lanes orders."""
        return self._lockstep.by_instances

    @property
    def found(self) -> set[object]:
        """Findings so far, known ones included, each once."""
        sentences = *self.faults, *self.outside, *self.results
        return {*self._pairs.found, *self.divergences, *sentences}

    @property
    def has_lone_reports(self) -> bool:
        """Whether the detector reports a line at which no run has a race."""
        racy = {place for pair in self._pairs.found.values() for place in pair.first.places}
        return any(place not in racy for run in self.detector_runs for place, _ in run.unconfirmed)

    @property
    def has_findings(self) -> bool:
        """Whether anything is wrong."""
        return bool(self.pairs or self.divergences)


def _as_in(again: Iterable[Race], races: Iterable[Race]) -> tuple[list[Race], list[Race]]:
    """Races as another run has them, which keeps less, with the counts of the first; and those that
    it does not have."""
    kept = {(race.kernel, *race.key): race for race in again}
    told, untold = [], []
    for race in races:
        other = kept.get((race.kernel, *race.key))
        if other is None:
            untold.append(race)
            continue
        told.append(
            replace(
                other, instances=race.instances, block_pairs=race.block_pairs,
                is_least=race.is_least,
            )
        )  # fmt: skip
    return told, untold


def _with_threads(race: LineRace, trace: Trace, header: TraceHeader) -> LineRace:
    """A race with what its threads did, while their trace is there."""
    threads = tracks_of(race, trace, header)
    cause = race.cause and replace(race.cause, shortfall=shortfall_of(race, threads))
    made = timeline_of(race, threads)
    return replace(race, cause=cause, make_timeline=partial(_kept, made))


def _kept(timeline: Timeline) -> Timeline:
    """A timeline that was made while its trace was there."""
    return timeline
