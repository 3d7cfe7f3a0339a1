"""Reports of findings: page, SARIF, JUnit, annotations, and the baseline."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from racetrap.commands.shared.input_files import InputFile
from racetrap.commands.shared.result_forms import Form
from racetrap.commands.shared.terminal import (
    command_line,
    input_errors,
    write_file,
    write_json,
)

if TYPE_CHECKING:
    from racetrap.presenters.findings import Findings
    from racetrap.verdict.baseline import Baseline
    from racetrap.verdict.line_pairs import LinePair


#: Forms in which findings are written.
FINDINGS = (
    Form(".html", "a page with the sources"),
    Form(".sarif", "SARIF"),
    Form(".xml", "JUnit"),
    Form(".toml", "a new baseline with all races found", to_standard_output=False),
    Form(".github", "annotations for GitHub"),
)

#: Form of what cures them.
CURES = Form(".patch", "a patch of the edits that end the races")

#: Known races, as ``baseline_file``.
baseline_option = click.option(
    "--baseline", "baseline_file", metavar="FILE", type=InputFile(),
    help="Neither show nor count the races that the baseline FILE lists.",
)  # fmt: skip


def known_races(file: str | Path | None) -> Baseline | None:
    """Races of a baseline, if there is one.

    Raises
    ------
    InputError
        If the file is malformed.
    """
    if file is None:
        return None
    from racetrap.verdict.baseline import read_baseline  # slow to import

    with input_errors():
        return read_baseline(Path(file))


class Reports:
    """Requested reports.

    Parameters
    ----------
    output : mapping of str to str
        Files to be written, by the suffixes of ``FINDINGS``.

    Raises
    ------
    InputError
        If the new baseline exists.
    """

    def __init__(self, output: Mapping[str, str]) -> None:
        with input_errors():
            if (new := output.get(".toml")) is not None and Path(new).exists():
                raise ValueError(f"Baseline must be a new file, not {new}")
        self._output = output

    def write(self, subject: str, findings: Findings, known: Sequence[LinePair] = ()) -> None:
        """Write them.

        Parameters
        ----------
        subject : str
            Program or trace.
        findings : Findings
            The findings.
        known : sequence of LinePair
            Races of the baseline that were found.
        """
        # The writers are slow to import, and seldom needed.
        name = Path(subject).name
        if (file := self._output.get(".toml")) is not None:
            from racetrap.verdict.baseline import baseline_text

            write_file(file, lambda: baseline_text([*findings.pairs, *known]))
        if (file := self._output.get(".xml")) is not None:
            from racetrap.presenters.junit import junit_text

            suite = f"racetrap.{name}"
            write_file(file, lambda: junit_text(suite, findings.cases))
        if (file := self._output.get(".github")) is not None:
            from racetrap.presenters.findings import annotation_lines

            write_file(file, lambda: annotation_lines(findings))
        if (file := self._output.get(".sarif")) is not None:
            from racetrap.presenters.sarif import sarif_log

            write_json(file, sarif_log(findings))
        if (file := self._output.get(".html")) is not None:
            from racetrap.presenters.findings_page import findings_page

            title = f"Races of {name}"
            write_file(file, lambda: findings_page(title, command_line(), findings))
