"""Known misses and false reports with their rates, from the history of the results.

A limit has the figures that count it, or the reason for which no run can.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from importlib import import_module

from docs.site.history.limit import Limit
from docs.site.history.results import Result, read_results
from docs.site.markdown import plain, table
from racetrap.generators.systems import SYSTEMS

#: Limits by detector.
LIMITS: Mapping[str, Sequence[Limit]] = {
    name: import_module(f"docs.site.known_limits.{name}").LIMITS
    for name in (*(system.name for system in SYSTEMS), "exact")
}


def _rate(result: Result) -> str:
    """The value of a figure; of one that counts some of many also in percent."""
    count, _, whole = result.unit.rpartition("of ")
    if count or not whole.isdigit():
        return f"{result.value:.3g} {result.unit}"
    share = f" ({result.value / int(whole):.1%})" if int(whole) else ""
    return f"{result.value:,.0f} of {int(whole):,}{share}"


def limits_table(detector: str, results: Iterable[Result] | None = None) -> str:
    """The latest rate of each limit with the command that gives it."""
    latest = {each.figure: each for each in (read_results() if results is None else results)}
    rows = []
    for limit in LIMITS[detector]:
        found = [each for each in latest.values() if each.figure.endswith(limit.figures or "\0")]
        rows.append((
            limit.name,
            "<br>".join(f"{plain(each.figure)}: {_rate(each)}" for each in found),
            "<br>".join(dict.fromkeys(f"`{each.command}`" for each in found)),
            limit.remark,
        ))  # fmt: skip
    return table(("limit", "latest figures", "command", "remark"), rows)


#: Figures of the first page: what is counted, and by which figure of the results.
_FIRST = (
    ("ScoRD: racy builds of the ScoR suite found", "schedules 3: racy builds found, cached"),
    ("ScoRD: distinct races found", "schedules 3: races of the oracle, reported"),
    ("ScoRD: false reports", "schedules 3: false races, cached"),
    ("Causality: racy constructs found", "constructs, causality: racy programs found"),
    ("Causality: clean constructs reported", "constructs, causality: race-free programs reported"),
    ("Causality: racy small kernels found", "concurrency, causality: racy programs found"),
    (
        "SigRace: races found in threaded programs",
        "size tiny, 13 programs: races of the oracle, reported",
    ),
    ("SigRace: false reports", "size tiny, 13 programs: reports that are no race"),
    ("Bus monitor, 8 entries: races in drivers lost", "8 entries, programs: races lost"),
)  # fmt: skip


def first_limits(results: Iterable[Result] | None = None) -> str:
    """The most important rates, each the latest of its figure."""
    latest = {each.figure: each for each in (read_results() if results is None else results)}
    rows = []
    for what, ending in _FIRST:
        (found,) = (each for figure, each in latest.items() if figure.endswith(ending))
        rows.append((what, _rate(found), found.date))
    return table(("what", "measured", "date"), rows)
