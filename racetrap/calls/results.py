"""Results of calls: typed, with what a notebook shows, a table for pandas, and the JSON of the
command."""

from __future__ import annotations

import io
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from html import escape
from typing import TYPE_CHECKING, Any

from racetrap.calls.report import Report
from racetrap.presenters.json_array import write_document
from racetrap.presenters.tables import cell_text

if TYPE_CHECKING:
    from pandas import DataFrame
    from rich.console import Console

    from racetrap.evaluation.table import Table
    from racetrap.fpga.cost.table import CostTable
    from racetrap.presenters.findings import Findings
    from racetrap.sim.failure import Failure
    from racetrap.sim.gpu.stress.advice import Advice
    from racetrap.sim.gpu.stress.subject import Run
    from racetrap.verdict.line_pairs import LinePair
    from racetrap.verdict.race_findings import RaceFinding

#: Rows that a notebook shows of a table.
_MOST_ROWS = 20


@dataclass(frozen=True, kw_only=True, repr=False)
class Result:
    """Result of a call.

    Parameters
    ----------
    document : mapping of str to object
        Data that the command writes with ``--json``; its long arrays lie in files, see ``to_dict``.
    text : str
        Text that the command prints.
    """

    document: Mapping[str, Any]
    text: str = ""

    @property
    def rows(self) -> list[dict[str, Any]]:
        """Rows that ``to_pandas`` returns."""
        return self._rows()

    def _title(self) -> str:
        raise NotImplementedError

    def _rows(self) -> list[dict[str, Any]]:
        raise NotImplementedError

    def _tables(self) -> dict[str, list[dict[str, Any]]]:
        """Tables that a notebook shows, by title."""
        return {"": self.rows}

    def to_dict(self) -> dict[str, Any]:
        """Data that the command writes with ``--json``."""
        text = io.StringIO()
        write_document(text, dict(self.document))
        document: dict[str, Any] = json.loads(text.getvalue())
        return document

    def to_pandas(self) -> DataFrame:
        """Rows of the result as a data frame of pandas.

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
        parts = [f"<p><strong>{escape(self._title())}</strong></p>"]
        for title, rows in self._tables().items():
            parts += [f"<p>{escape(title)}</p>"] * bool(title) + [_table(rows[:_MOST_ROWS])]
            if len(rows) > _MOST_ROWS:
                parts.append(f"<p>The first {_MOST_ROWS} of {len(rows)} rows.</p>")
        if text := str(self):
            parts.append(
                f"<details><summary>As printed</summary><pre>{escape(text)}</pre></details>"
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
class VortexResult(Result):
    """Result of ``vortex_run``.

    Parameters
    ----------
    kernel : str
        The kernel, as given.
    reports : sequence of mapping
        Reports of the hardware by instruction and kind.
    has_findings : bool
        Whether the hardware or the exact analysis has found a race.
    """

    kernel: str
    reports: Sequence[Mapping[str, Any]] = ()
    has_findings: bool = False

    def _title(self) -> str:
        from racetrap.presenters.line_pairs import number_text  # slow to import

        return f"{self.kernel}: {number_text(len(self.reports), 'report')}"

    def _rows(self) -> list[dict[str, Any]]:
        return [dict(row) for row in self.reports]


@dataclass(frozen=True, kw_only=True, repr=False)
class CheckResult(Result):
    """Result of ``check``.

    Parameters
    ----------
    subject : str
        The trace, the kernel or the program, as given.
    findings : Findings
        Findings that are printed and reported.
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
        """Whether there is any finding: the command would end with status 1."""
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
    """Result of ``run``.

    Parameters
    ----------
    output : str
        What the program printed in its first run, if that was kept.
    status : int
        Exit status of the program's first run that failed, negative for a signal; else 0.
    problems : sequence of str
        Calls of the program that could not be carried out, in sentences.
    """

    output: str = ""
    status: int = 0
    problems: Sequence[str] = ()

    @property
    def has_findings(self) -> bool:
        """Whether there is any finding in the program's kernels."""
        others = {**self.findings.others, "program": ()}
        return bool(self.findings.pairs or [*filter(None, others.values())])


@dataclass(frozen=True, kw_only=True, repr=False)
class StressResult(Result):
    """Result of ``stress``.

    Parameters
    ----------
    subject : str
        The kernel or the program, as given.
    runs : sequence of Run
        The runs, in order.
    witness : Run or None
        A failing run, shrunk to the deviations that cause the failure.
    advice : Advice or None
        Missing or redundant fences, if advice was requested.
    patch : str
        The advice as a patch of the source.
    """

    subject: str
    runs: Sequence[Run] = field(repr=False)
    witness: Run | None = None
    advice: Advice | None = None
    patch: str = ""

    @property
    def has_findings(self) -> bool:
        """Whether a run fails: the command would end with status 1."""
        return bool(self.document["failing"])

    def _title(self) -> str:
        return f"{self.subject}: {self.document['failing']} of {len(self.runs)} runs fail"

    def _rows(self) -> list[dict[str, Any]]:
        from racetrap.verdict.source_text import with_relative_places  # slow to import

        return [
            {
                "run": number,
                "failure": run.failure and run.failure.value,
                "sentence": with_relative_places(run.sentence),
                "deviations": len(run.deviations),
            }
            for number, run in enumerate(self.runs)
        ]


@dataclass(frozen=True, kw_only=True, repr=False)
class SimulateResult(Result):
    """Result of ``simulate``: hardware and golden model agree in every step.

    Parameters
    ----------
    preset, stimulus : str
        The hardware, and the trace or suite that it ran.
    races : int or None
        Number of races in a trace; none for a suite.
    problems : sequence of Failure
        Wrong verdicts of a suite.
    """

    preset: str
    stimulus: str
    races: int | None = None
    problems: Sequence[Failure] = ()

    def _title(self) -> str:
        from racetrap.presenters.line_pairs import number_text  # slow to import

        found = (
            number_text(len(self.problems), "problem")
            if self.races is None
            else number_text(self.races, "race")
        )
        return f"{self.stimulus} on {self.preset}: {found}, every step compared"

    def _rows(self) -> list[dict[str, Any]]:
        """The races, or the programs of a suite: the one list of the document."""
        return next(
            (
                [row for row in value if isinstance(row, dict)]
                for value in self.to_dict().values()
                if isinstance(value, list)
            ),
            [],
        )


@dataclass(frozen=True, kw_only=True, repr=False)
class LongResult(Result):
    """What long work has measured.

    Parameters
    ----------
    problems : sequence of str
        What is not as it must be, in sentences.
    make_page : callable
        Makes a page of tables and plots from the command that reproduces it.
    """

    problems: Sequence[str] = ()
    make_page: Callable[[str], str] = field(default=str, repr=False)

    def show(self, console: Console) -> None:
        """Print the tables."""
        raise NotImplementedError

    def __str__(self) -> str:
        report = Report()
        self.show(report.console)
        return report.text


@dataclass(frozen=True, kw_only=True, repr=False)
class CostResult(LongResult):
    """Result of ``cost``.

    Parameters
    ----------
    tables : sequence of CostTable
        The hardware of each preset.
    """

    tables: Sequence[CostTable] = field(repr=False)

    def show(self, console: Console) -> None:
        """Print the tables."""
        from racetrap.presenters.cost import print_cost

        print_cost(console, self.tables)

    def _title(self) -> str:
        return f"Hardware of {', '.join(table.preset for table in self.tables)}"

    def _rows(self) -> list[dict[str, Any]]:
        from racetrap.presenters.cost import tables_of

        return [
            {"preset": cost.preset, **row}
            for cost in self.tables
            for row in tables_of(cost)[0].to_json()
        ]


@dataclass(frozen=True, kw_only=True, repr=False)
class EvaluationResult(LongResult):
    """Result of ``evaluate``.

    Parameters
    ----------
    name : str
        Name of the evaluation.
    tables : sequence of Table
        Its tables; the rows of the first are those of ``to_pandas``.
    facts : mapping of str to object
        Facts about the runs.
    """

    name: str
    tables: Sequence[Table] = field(repr=False)
    facts: Mapping[str, object] = field(default_factory=dict)

    def show(self, console: Console) -> None:
        """Print the tables, and the facts about the runs."""
        from racetrap.presenters.tables import show_tables

        show_tables(console, self.tables, self.facts)

    def _title(self) -> str:
        return f"Evaluation {self.name}: {', '.join(table.name for table in self.tables)}"

    def _rows(self) -> list[dict[str, Any]]:
        return self.tables[0].to_json() if self.tables else []

    def _tables(self) -> dict[str, list[dict[str, Any]]]:
        return {table.title: table.to_json() for table in self.tables}
