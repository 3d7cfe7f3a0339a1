"""Text and JSON of a kernel's run on Vortex beside a detector."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

from rich.console import Console

from racetrap.presenters.line_pairs import number_text

if TYPE_CHECKING:
    from racetrap.sim.cosim.vortex.session import Alone, Session

#: Words of the result that are printed.
_MOST_WORDS = 16


def report_rows(session: Session) -> list[dict[str, Any]]:
    """Reports of the hardware, those of the same instruction and kind as one row."""
    counts: Counter[tuple[int, str, str]] = Counter()
    first: dict[tuple[int, str, str], Any] = {}
    for report in session.reports:
        key = report.pc, report.kind_words, report.race_scope.name.lower()
        counts[key] += 1
        first.setdefault(key, report)
    lines = session.image.lines(pc for pc, *_ in counts)
    return [
        {"line": lines.get(pc, ""), "pc": pc, "kind": kind, "scope": scope,
         "address": first[pc, kind, scope].address, "count": count}
        for (pc, kind, scope), count in sorted(counts.items())
    ]  # fmt: skip


def print_run(console: Console, session: Session, alone: Alone, rows: list[dict[str, Any]]) -> None:
    """Print what the kernel has given and cost, and what the hardware has reported."""
    lines = [session.console.rstrip("\n")] if session.console else []
    if session.result:
        lines.append(f"Result: {_words(session.result)}")
    if session.result != alone.result:
        lines.append(f"Result without the detector: {_words(alone.result)}")
    more = session.cycles / alone.cycles - 1
    waits = ", ".join(f"{cause.replace('_', ' ')} {n}" for cause, n in session.waits.items())
    lines += [
        f"Cycles: {session.cycles}, without the detector {alone.cycles} ({more:+.1%}).",
        f"Cycles in which a core's request waits for the detector: {waits}.",
        f"Hardware and golden models agree on {number_text(session.instructions, 'instruction')} "
        f"and {number_text(session.transactions, 'transaction')}.",
        f"The hardware reports {number_text(sum(row['count'] for row in rows), 'race')}"
        f"{':' if rows else '.'}",
    ]
    for row in rows:
        place = row["line"] or f"pc {row['pc']:#x}"
        lines.append(
            f"  {place}: {row['kind']}, {row['scope']} scope, address {row['address']:#x}, "
            f"{number_text(row['count'], 'time')}"
        )
    console.print("\n".join([*lines, ""]), markup=False, highlight=False)


def _words(result: list[int]) -> str:
    shown = " ".join(map(str, result[:_MOST_WORDS]))
    return shown + (" ..." if len(result) > _MOST_WORDS else "")
