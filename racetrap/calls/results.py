"""Results of calls: typed, with what a notebook shows, a table for pandas, and the JSON of the
command."""

from __future__ import annotations

import io
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from html import escape
from typing import TYPE_CHECKING, Any

from racetrap.presenters.json_array import write_document
from racetrap.presenters.tables import cell_text

if TYPE_CHECKING:
    from pandas import DataFrame

    from racetrap.presenters.findings import Findings
    from racetrap.verdict.line_pairs import LinePair
    from racetrap.verdict.race_findings import RaceFinding

#: Rows that a notebook shows of a table.
_MOST_ROWS = 20


@dataclass(frozen=True, kw_only=True, repr=False)
class Result:
    """What a call has found.

    Parameters
    ----------
    document : mapping of str to object
        What the command writes by ``--json``; long arrays of it lie in files, see ``to_dict``.
    text : str
        What the command prints.
    """

    document: Mapping[str, Any]
    text: str = ""

    @property
    def rows(self) -> list[dict[str, Any]]:
        """The table that ``to_pandas`` gives."""
        return self._rows()

    def _title(self) -> str:
        raise NotImplementedError

    def _rows(self) -> list[dict[str, Any]]:
        raise NotImplementedError

    def to_dict(self) -> dict[str, Any]:
        """What the command writes by ``--json``, as plain data."""
        text = io.StringIO()
        write_document(text, dict(self.document))
        document: dict[str, Any] = json.loads(text.getvalue())
        return document

    def to_pandas(self) -> DataFrame:
        """The rows of the result as a table of pandas.

        Raises
        ------
        ImportError
            If pandas is not installed.
        """
        try:
            from pandas import DataFrame
        except ImportError:
            raise ImportError(
                "Package pandas must be installed for tables: pip install 'racetrap[notebook]'"
            ) from None
        return DataFrame(self.rows)

    def __repr__(self) -> str:
        return f"<{self._title()}>"

    def __str__(self) -> str:
        return self.text

    def _repr_html_(self) -> str:
        """What a notebook shows: the title, the table, and what the command prints, folded."""
        rows = self.rows
        parts = [f"<p><strong>{escape(self._title())}</strong></p>", _table(rows[:_MOST_ROWS])]
        if len(rows) > _MOST_ROWS:
            parts.append(f"<p>The first {_MOST_ROWS} of {len(rows)} rows.</p>")
        if self.text:
            parts.append(
                f"<details><summary>As printed</summary><pre>{escape(self.text)}</pre></details>"
            )
        return "\n".join(parts)


def _table(rows: Sequence[Mapping[str, Any]]) -> str:
    columns = list(dict.fromkeys(name for row in rows for name in row))
    if not columns:
        return ""
    head = "".join(f"<th>{escape(name)}</th>" for name in columns)
    body = "".join(
        f"<tr>{''.join(f'<td>{escape(_cell(row.get(name)))}</td>' for name in columns)}</tr>"
        for row in rows
    )
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def _cell(value: Any) -> str:
    return cell_text(value) if isinstance(value, (int, float, type(None))) else str(value)


@dataclass(frozen=True, kw_only=True, repr=False)
class CheckResult(Result):
    """What ``check`` has found.

    Parameters
    ----------
    subject : str
        The trace, the kernel or the program, as given.
    findings : Findings
        What is printed and reported.
    known : sequence of LinePair
        Races of the baseline that were found.
    """

    subject: str
    findings: Findings = field(repr=False)
    known: Sequence[LinePair] = ()

    @property
    def races(self) -> list[RaceFinding]:
        """Races by bug, those of the baseline left out."""
        return self.findings.races

    @property
    def has_findings(self) -> bool:
        """Whether anything is wrong: the command would end with status 1."""
        return bool(self.findings.pairs or [*filter(None, self.findings.others.values())])

    def _title(self) -> str:
        from racetrap.presenters.line_pairs import number_text  # slow to import

        others = sum(map(len, self.findings.others.values()))
        more = f", {number_text(others, 'other finding')}" if others else ""
        return f"{self.subject}: {number_text(len(self.races), 'race')}{more}"

    def _rows(self) -> list[dict[str, Any]]:
        from racetrap.presenters.findings import finding_rows

        return finding_rows(self.findings)


@dataclass(frozen=True, kw_only=True, repr=False)
class RunResult(CheckResult):
    """What ``run`` has found.

    Parameters
    ----------
    output : str
        What the program printed in its first run, if that was kept.
    status : int
        Exit status of the program's first run that failed, negative for a signal; else 0.
    problems : sequence of str
        What could not be done for the program, in sentences.
    """

    output: str = ""
    status: int = 0
    problems: Sequence[str] = ()

    @property
    def has_findings(self) -> bool:
        """Whether anything is wrong with the program's kernels."""
        others = {**self.findings.others, "program": ()}
        return bool(self.findings.pairs or [*filter(None, others.values())])
