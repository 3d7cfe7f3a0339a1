"""Reports of findings for where people work: page, SARIF, JUnit, annotations, and the baseline."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from racetrap.commands.shared.input_files import InputFile
from racetrap.commands.shared.output_files import OutputFile
from racetrap.commands.shared.terminal import (
    command_line,
    input_errors,
    report_console,
    write_file,
    write_json,
)

if TYPE_CHECKING:
    from racetrap.presenters.findings import Findings
    from racetrap.verdict.baseline import Baseline
    from racetrap.verdict.line_pairs import LinePair


_TEXT = OutputFile(to_standard_output=True)
_FILES = (
    ("--html", "html_file", _TEXT, "Write the races as a page to FILE, with their sources."),
    ("--sarif", "sarif_file", _TEXT, "Write the races as SARIF to FILE."),
    ("--junit", "junit_file", _TEXT, "Write the verdicts as JUnit to FILE."),
    (
        "--write-baseline", "new_baseline", OutputFile(),
        "Write a new FILE in which all races found are known.",
    ),
)  # fmt: skip


def report_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Files of a ``Reports``."""
    for option, name, kind, text in reversed(_FILES):
        command = click.option(option, name, metavar="FILE", type=kind, help=text)(command)
    github = click.option(
        "--github", is_flag=True, help="Also print the races as annotations for GitHub."
    )
    baseline = click.option(
        "--baseline", "baseline_file", metavar="FILE", type=InputFile(),
        help="Leave the known races of FILE out.",
    )  # fmt: skip
    return baseline(github(command))


@dataclass(frozen=True)
class Reports:
    """Reports that were asked for.

    Parameters
    ----------
    baseline_file, new_baseline : str or None
        Known races; a new file of them.
    html_file, sarif_file, junit_file : str or None
        Files to be written.
    github : bool
        Whether annotations are printed.
    """

    baseline_file: str | None
    new_baseline: str | None
    html_file: str | None
    sarif_file: str | None
    junit_file: str | None
    github: bool

    def baseline(self) -> Baseline | None:
        """Known races; exit if a file is not as it must be, before anything is run."""
        with input_errors():
            if self.new_baseline is not None and Path(self.new_baseline).exists():
                raise ValueError(f"Baseline must be a new file, not {self.new_baseline}")
            if self.baseline_file is None:
                return None
            from racetrap.verdict.baseline import read_baseline  # slow to import

            return read_baseline(Path(self.baseline_file))

    def write(self, subject: str, findings: Findings, known: Sequence[LinePair] = ()) -> None:
        """Write them.

        Parameters
        ----------
        subject : str
            Program or trace.
        findings : Findings
            What was found.
        known : sequence of LinePair
            Races of the baseline that were found.
        """
        # What writes them is slow to import, and seldom asked for.
        name = Path(subject).name
        if self.new_baseline is not None:
            from racetrap.verdict.baseline import baseline_text

            write_file(self.new_baseline, lambda: baseline_text([*findings.pairs, *known]))
        if self.junit_file is not None:
            from racetrap.presenters.junit import junit_text

            suite = f"racetrap.{name}"
            write_file(self.junit_file, lambda: junit_text(suite, findings.cases))
        if self.github:
            from racetrap.presenters.findings import print_annotations

            print_annotations(report_console(is_asked_for=True), findings)
        if self.sarif_file is not None:
            from racetrap.presenters.sarif import sarif_log

            write_json(self.sarif_file, sarif_log(findings))
        if self.html_file is not None:
            from racetrap.presenters.findings_page import findings_page

            title = f"Races of {name}"
            write_file(self.html_file, lambda: findings_page(title, command_line(), findings))
