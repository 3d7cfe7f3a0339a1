"""Detection by HiRace and ScoRD in the suites with known verdicts.

``python -m tests.hirace_detection`` prints the table: of racy and of race-free
programs, how many have a report.  HiRace knows barriers and atomics alone, so that programs which
order accesses by fences or locks have reports, race-free or not.

Ref: HiRace (SC'24); ScoRD (ISCA'20) Section V for the micro-benchmarks.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from racetrap.generators.presets import find_preset
from racetrap.golden_model.events import EventKind, MemoryOrder
from racetrap.golden_model.gpu.region import Region
from racetrap.golden_model.hirace.hirace import Hirace
from racetrap.golden_model.hirace.params import HiraceParams
from racetrap.golden_model.scord.scord import Scord
from racetrap.sim.cosim.scord.suite import suite_runs
from racetrap.sim.gpu.suites.micro.program import program_region
from racetrap.verdict.gpu.trace_check import MOST_FINDING
from racetrap.verdict.hirace.fit import around
from tests.support.gpu.construct_verdicts import SCHEDULES, judge
from tests.support.gpu.constructs.cases import GROUPS, Pair, run_kernel

#: Presets that are compared.
_PRESETS = ("hirace", MOST_FINDING)
_SCHEDULES = 4
#: What orders accesses, and HiRace does not know.
_UNKNOWN = (EventKind.FENCE, EventKind.BARRIER_ARRIVE, EventKind.PARTIAL_BARRIER)


@dataclass(frozen=True)
class Counted:
    """Programs with a report, by what they are.

    Parameters
    ----------
    suite, preset : str
        Programs, and the detector.
    racy, found : int
        Racy programs, and those of them with a report.
    race_free, reported : int
        Race-free programs, and those of them with a report.
    """

    suite: str
    preset: str
    racy: int
    found: int
    race_free: int
    reported: int


def micro_benchmarks(preset: str) -> Counted:
    """The ScoR micro-benchmarks; a program has a report if any of its runs has."""
    params: Any = find_preset(preset).params
    verdicts: dict[str, tuple[bool, bool]] = {}
    for run in suite_runs(params, _SCHEDULES, 1):
        model = _model(params, program_region())
        for event in run.events():
            model.run(event)
        before = verdicts.get(run.benchmark.name, (run.benchmark.racy, False))[1]
        verdicts[run.benchmark.name] = run.benchmark.racy, before or bool(model.unique)
    return _counted("micro-benchmarks", preset, verdicts.values())


def _model(params: Any, region: Region) -> Hirace | Scord:
    """Golden model of the detector whose parameters are given."""
    if not isinstance(params, HiraceParams):
        return Scord(params, region, keep_races=False)
    return Hirace(params, around(region, params), keep_races=False)


def constructs(preset: str, group: str | None = None, *, plain: bool = False) -> Counted:
    """The suite of constructs.

    Parameters
    ----------
    preset : str
        The detector.
    group : str, optional
        Only this group of the suite.
    plain : bool
        Only kernels that order accesses by barriers of all warps of a block, barriers of a warp
        and atomics alone, as far as their runs show.
    """
    verdicts = [
        (is_racy, judge(pair, kernel, preset).has_report)
        for title, pairs in GROUPS.items()
        for pair in (pairs if group in (None, title) else ())
        for kernel, is_racy in ((pair.free, False), (pair.racy, True))
        if not plain or _is_plain(pair, kernel)
    ]
    return _counted("constructs" + ", plain" * plain, preset, verdicts)


def _is_plain(pair: Pair, kernel: str) -> bool:
    events = run_kernel(pair, kernel, *SCHEDULES[0]).trace.events
    is_unknown = np.isin(events["kind"], [int(kind) for kind in _UNKNOWN])
    is_access = events["kind"] < EventKind.ATOMIC
    is_strong = is_access & ((events["strong"] != 0) | (events["order"] != MemoryOrder.IMPLIED))
    return not (is_unknown | is_strong).any()


def _counted(suite: str, preset: str, verdicts: Iterable[tuple[bool, bool]]) -> Counted:
    racy: list[bool] = []
    free: list[bool] = []
    for is_racy, has_report in verdicts:
        (racy if is_racy else free).append(has_report)
    return Counted(suite, preset, len(racy), sum(racy), len(free), sum(free))


def main() -> None:
    """Print the table."""
    print("programs                                 detector       racy found  race-free reported")
    for preset in _PRESETS:
        _print(micro_benchmarks(preset))
        _print(constructs(preset))
        _print(constructs(preset, plain=True))
    for title in GROUPS:
        for preset in _PRESETS:
            _print(replace(constructs(preset, title), suite=title[:40]))


def _print(count: Counted) -> None:
    print(
        f"{count.suite:40} {count.preset:14} {count.found:3} of {count.racy:3} "
        f"{count.reported:9} of {count.race_free}"
    )


if __name__ == "__main__":
    main()
