"""Self-contained HTML page of tables and plots."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from racetrap.evaluation.table import Table
from racetrap.presenters.printable import printable
from racetrap.presenters.tables import cell_text, is_numeric


@dataclass(frozen=True)
class Section:
    """A table and what belongs to it.

    Parameters
    ----------
    table : Table
        The table; without rows the section says that nothing was run.
    plot : str
        SVG element below it; empty: none.
    sentences : sequence of str
        List below the table.
    details : mapping of str to sequence of str
        Numbered lists that are folded behind their names.
    """

    table: Table
    plot: str = ""
    sentences: Sequence[str] = ()
    details: Mapping[str, Sequence[str]] = field(default_factory=dict)


def page_environment() -> Environment:
    """Templates of this folder; what they are given is escaped."""
    return Environment(
        loader=FileSystemLoader(Path(__file__).parent),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        finalize=lambda value: printable(value) if type(value) is str else value,
    )


def html_page(
    title: str,
    introduction: str,
    sections: Sequence[Section],
    *,
    command: str,
    facts: Mapping[str, object],
    limits: Sequence[str] = (),
    problems: Sequence[str] = (),
) -> str:
    """The page; whatever is given is escaped.

    Parameters
    ----------
    title, introduction : str
        What it shows, and how to read it in a sentence or two.
    sections : sequence of Section
        Its tables.
    command : str
        The command that makes it again.
    facts : mapping of str to object
        How the figures were made: seed, sizes, versions.
    limits, problems : sequence of str
        What the figures may not be used for; what no run may show.
    """
    return page_environment().get_template("page.html").render(
        title=title, introduction=introduction, sections=sections, command=command, facts=facts,
        limits=limits, problems=problems, text=cell_text,
        is_numeric=is_numeric,
    )  # fmt: skip
