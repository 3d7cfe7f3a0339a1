"""Verdicts of the exact oracle and of a detector on the suite of constructs.

Ref: PTX ISA 9.0, Section 8; ScoRD (ISCA'20) Sections III and V-A.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from racetrap.generators.presets import find_preset
from racetrap.verdict.gpu.oracle import ELSEWHERE, NOT_CHECKED, REPORTED
from racetrap.verdict.gpu.trace_check import MOST_FINDING, Detector, TraceCheck
from tests.support.gpu.constructs.cases import GROUPS, Pair, run_kernel

#: Warp schedulers and seeds that every kernel runs under.
SCHEDULES = (("in-order", 1), ("round-robin", 1), ("random", 1))


@dataclass
class Verdict:
    """What was found in a kernel, over all schedules.

    Parameters
    ----------
    races : set of str
        Classes of race that the oracle finds.
    data : set of tuple of int
        How ``data`` begins afterwards, as many words as the pair names.
    outcomes : set of str
        What the detector made of the races.
    imposed, false : set of str
        Kinds of its other reports: imposed by the method, and confirmed by no rule.
    """

    races: set[str] = field(default_factory=set)
    data: set[tuple[int, ...]] = field(default_factory=set)
    outcomes: set[str] = field(default_factory=set)
    imposed: set[str] = field(default_factory=set)
    false: set[str] = field(default_factory=set)

    @property
    def detector(self) -> str:
        """In one word what the detector makes of the kernel."""
        if self.races:
            if self.has_report:
                return "reported"
            return "out of scope" if self.outcomes <= set(NOT_CHECKED.values()) else "missed"
        return "false" if self.false else "imposed by the method" if self.imposed else "silent"

    @property
    def has_report(self) -> bool:
        """Whether the detector reports one of the races, or anything where there is none."""
        if self.races:
            return not self.outcomes.isdisjoint((REPORTED, ELSEWHERE))
        return bool(self.false or self.imposed)

    def explanation(self) -> str:
        """In one line what the detector makes of the kernel, and why."""
        word = self.detector
        if word == "reported":
            return word
        if self.races:
            return f"{word}: {', '.join(sorted(self.outcomes))}"
        kinds = self.false if word == "false" else self.imposed
        return f"{word}: {', '.join(sorted(kinds))}" if kinds else word


def judge(pair: Pair, kernel: str, preset: str = MOST_FINDING) -> Verdict:
    """Run a kernel of a pair in all schedules, with the detector of a preset."""
    detector = Detector(preset, find_preset(preset).params)
    check = TraceCheck(detector=detector)
    verdict = Verdict()
    for scheduler, seed in SCHEDULES:
        run = run_kernel(pair, kernel, scheduler, seed)
        check.add(run.trace)
        verdict.data.add(tuple(run.data[: len(pair.result)]))
    for found in check.detector_runs:
        verdict.races |= {each.race.race_class.value for each in found.outcomes}
        verdict.outcomes |= {each.outcome for each in found.outcomes}
        verdict.imposed |= {kind for _, kind in found.imposed}
        verdict.false |= {kind for _, kind in found.unconfirmed}
    return verdict


def verdicts(preset: str = MOST_FINDING) -> dict[str, Verdict]:
    """Verdicts on all kernels by name, with the detector of a preset."""
    return {
        kernel: judge(pair, kernel, preset)
        for pairs in GROUPS.values()
        for pair in pairs
        for kernel in (pair.free, pair.racy)
    }


def is_right(pair: Pair, found: Mapping[str, Verdict]) -> bool:
    """Whether the oracle finds in both kernels of a pair what is in them."""
    free, racy = found[pair.free], found[pair.racy]
    return not free.races and free.data == {pair.result} and racy.races == pair.races
