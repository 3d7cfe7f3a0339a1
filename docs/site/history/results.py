"""History of the results: figures of runs of the commands that measure, a row each."""

from __future__ import annotations

import csv
import json
import shlex
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from datetime import UTC, datetime
from importlib import metadata
from pathlib import Path
from typing import Any

from docs.site.history.figures import figures_of

#: The file of all rows, in a checkout.
RESULTS = Path(__file__).resolve().parents[2] / "results.csv"


@dataclass(frozen=True)
class Result:
    """A figure of a run.

    Parameters
    ----------
    date : str
        Day of the run.
    version, revision : str
        Version of racetrap, and its commit.
    command : str
        Command that gives the figure.
    figure, unit : str
        What is measured.
    value : float
        The figure.
    """

    date: str
    version: str
    revision: str
    command: str
    figure: str
    unit: str
    value: float


def revision_of(path: Path) -> str:
    """Commit of the checkout of the results; with a plus if other files of it are changed."""

    def git(*words: str) -> str:
        done = subprocess.run(
            ["git", "-C", str(path.parent), *words], stdout=subprocess.PIPE, text=True, check=True
        )
        return done.stdout.strip()

    changed = git("status", "--porcelain", "--untracked-files=no", "--", ":/", f":!{path.name}")
    return git("rev-parse", "--short=9", "HEAD") + ("+" if changed else "")


def read_results(path: Path = RESULTS) -> list[Result]:
    """All rows, the oldest first."""
    with path.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    return [
        Result(**{name: text for name, text in row.items() if name != "value"},
               value=float(row["value"]))
        for row in rows
    ]  # fmt: skip


def add(
    command: Sequence[str], found: Mapping[str, Any], revision: str, path: Path = RESULTS
) -> list[Result]:
    """Add a row for each figure of a command's JSON.

    Parameters
    ----------
    command : sequence of str
        The command without ``racetrap``, or ``detection``, which is one of the tests.
    found : mapping
        What it has written.
    revision : str
        Commit from which it ran.
    path : Path
        The file.

    Returns
    -------
    list of Result
        The rows.
    """
    today = datetime.now(UTC).date().isoformat()
    words = _words(command)
    line = shlex.join(words if words[0] == "racetrap" else ["python", "-m", *words])
    rows = [
        Result(today, metadata.version("racetrap"), revision, line, figure, unit, value)
        for figure, unit, value in figures_of(list(command), found)
    ]
    is_new = not path.exists()
    with path.open("a", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, [field.name for field in fields(Result)], lineterminator="\n")
        if is_new:
            writer.writeheader()
        writer.writerows(asdict(row) | {"value": f"{row.value:.6g}"} for row in rows)
    return rows


def _words(command: Sequence[str]) -> list[str]:
    """The module that has a command, and its arguments."""
    if command[0] == "detection":
        return ["tests.detection", *command[1:]]
    return ["racetrap", *command]


def main(*command: str) -> None:
    """Run a command and keep its figures."""
    revision = revision_of(RESULTS)
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "found.json"
        words = [sys.executable, "-m", *_words(command), "--json", str(file)]
        try:
            status = subprocess.run(words, check=False).returncode
        except KeyboardInterrupt:
            sys.exit("No figure was added: interrupted; the same command continues from there.")
        if status:
            sys.exit(f"No figure was added: the command ended with status {status}, not 0.")
        found = json.loads(file.read_text(encoding="utf-8"))
    for row in add(command, found, revision):
        print(f"{row.figure}: {row.value:.6g} {row.unit}")
