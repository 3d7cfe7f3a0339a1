"""Table of the results with their history."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable

from docs.site.history.results import Result, read_results
from docs.site.markdown import plain, table


def _number(result: Result) -> str:
    digits = 0 if result.value >= 1000 or result.value == int(result.value) else 3
    return f"{result.value:,.{digits}f} {result.unit}"


def results_table(results: Iterable[Result] | None = None) -> str:
    """The latest value of each figure, with those before it, and where it comes from."""
    history = defaultdict(list)
    for result in read_results() if results is None else results:
        history[result.figure].append(result)
    rows = []
    for figure, (*before, latest) in history.items():
        earlier = "; ".join(f"{_number(each)} ({each.date})" for each in reversed(before))
        rows.append((
            plain(figure), _number(latest), latest.date, f"{latest.version} ({latest.revision})",
            f"`{latest.command}`", earlier,
        ))  # fmt: skip
    return table(("figure", "value", "date", "version", "command", "earlier values"), rows)
