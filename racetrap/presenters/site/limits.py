"""Known misses and false reports with their rates, from the history of the results.

A limit has the figures that count it, or the reason for which no run can.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from racetrap.evaluation.history.figures import OUTCOME
from racetrap.evaluation.history.results import Result, read_results
from racetrap.presenters.site.markdown import plain, table

__all__ = ["LIMITS", "Limit", "limits_table"]


class Limit(NamedTuple):
    """A limit of a detector.

    Parameters
    ----------
    name : str
        As the page names it.
    figures : tuple of str
        Ends of the names of the figures that count it.
    remark : str
        What they count besides, or why there are none.
    """

    name: str
    figures: tuple[str, ...] = ()
    remark: str = ""


def _counted(name: str, *outcomes: str, remark: str = "") -> Limit:
    return Limit(name, tuple(f"{OUTCOME}{outcome}" for outcome in outcomes), remark)


#: Limits by detector, in the order of the page.
LIMITS: Mapping[str, Sequence[Limit]] = {
    "scord": (
        _counted("read hand-over", "handed-over entry", remark="with every other new owner"),
        _counted(
            "strong is of the latest access only, own re-read after a fence",
            "fence seen, order not",
            remark="both together, with fences that nobody waited for",
        ),
        _counted(
            "shared entries", "tag conflict",
            remark="many in a region no larger than the data, none in a large one",
        ),
        _counted(
            "lock filter", "Bloom collision",
            remark="between locks drawn at random: [lock hash](lock-hash.md#measured)",
        ),
        _counted(
            "one lock that does not order", "lock in common",
            remark="its scope is too narrow, or a fence is missing elsewhere",
        ),
        Limit(
            "lock table",
            remark="no rate: no program of the suites is made to hold five locks at once",
        ),
        _counted(
            "reused slots, and what no table asks for", "no rule of the method",
            remark="not told apart",
        ),
        Limit(
            "transitive synchronisation", ("false races, cached",),
            "on programs that are drawn at random: "
            "`python -m racetrap.evaluation.scord.race_free_programs phase --programs 20000`",
        ),
        Limit(
            "counter wrap",
            remark="no rate: it takes exactly as many fences or barriers as a counter counts; "
            "random runs with the knobs `wraps` make them so on purpose",
        ),
        Limit("granularity", ("false races, 8 bytes", "false races, 16 bytes")),
    ),
    "sigrace": (
        _counted("window: queue", "missed: queue", "missed: queue or log"),
        _counted("window: checkpoint", "missed: checkpoint"),
        _counted("conflict log", "missed: log", "missed: queue or log"),
        _counted("atomics", "missed: atomic"),
        Limit(
            "happened-before",
            remark="no rate: a race that this run has ordered is none of this run, by the oracle "
            "either",
        ),
        Limit("aliasing", (", regular programs", ", irregular programs")),
        Limit("reports that are no race", ("reports that are no race",), "there must be none"),
    ),
    "noncoherent": (
        Limit("mode strict", ("mode strict: first race missed", "mode strict: first race added")),
        Limit("mode thesis", ("mode thesis: first race missed", "mode thesis: first race added")),
        Limit("bus monitor, lost", ("races lost",), "there must be none"),
        Limit("bus monitor, possible races that are none", ("possible races that are none",)),
    ),
    "exact": (
        Limit(
            "missing fences that are no race", ("that lack a fence, racy by the oracle",),
            "why the others are none: [programs of weak memory](weak-memory-programs.md)",
        ),
        Limit("race-free variants", ("that lack nothing, racy by the oracle",)),
    ),
}  # fmt: skip


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
