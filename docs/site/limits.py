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
