"""Virtual environments as users have them: the wheel, some of its extras, and nothing else."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import zipfile
from collections.abc import Collection, Iterable, Iterator
from importlib.metadata import Distribution, PathDistribution, distribution
from pathlib import Path
from typing import NamedTuple

from packaging.requirements import Requirement

#: Runs commands in one process: a line of JSON of each.
_RUNNER = """\
import json, os, sys
from click.testing import CliRunner
from racetrap.cli import cli
results = os.fdopen(os.dup(1), "w")
os.dup2(2, 1)  # for programs that are run
for words in json.load(sys.stdin):
    done = CliRunner().invoke(cli, words)
    crash = "" if isinstance(done.exception, (SystemExit, type(None))) else repr(done.exception)
    print(json.dumps([done.exit_code, done.stdout, done.stderr + crash]), file=results)
"""


class Done(NamedTuple):
    """What a command came to."""

    status: int
    stdout: str
    stderr: str


def run_commands(python: Path, folder: Path, *commands: Iterable[object]) -> list[Done]:
    """Run commands in ``folder`` by an environment's Python, all in one process."""
    words = json.dumps([list(map(str, each)) for each in commands])
    done = subprocess.run(
        [python, "-c", _RUNNER], input=words, cwd=folder, capture_output=True, text=True,
        check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return [Done(*json.loads(line)) for line in done.stdout.splitlines()]


def unpacked(folder: Path, wheel: Path) -> Path:
    """Unpack a wheel of ours into ``folder`` as pip does, with a note on where it came from."""
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(folder)
    (about,) = folder.glob("racetrap-*.dist-info")
    (about / "direct_url.json").write_text(f'{{"url": "{wheel.as_uri()}", "archive_info": {{}}}}')
    return folder


def linked_environment(folder: Path, site: Path, extras: Collection[str]) -> Path:
    """Make an environment as pip does, of links to what is installed elsewhere; its Python.

    It takes a second and no network.

    Parameters
    ----------
    folder : Path
        Where to make it.
    site : Path
        Folder with our package, unpacked; all others are those of the running Python.
    extras : collection of str
        Its extras that are wanted.
    """
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", folder], check=True)
    (packages,) = folder.glob("lib/python*/site-packages")
    for path in site.iterdir():
        (packages / path.name).symlink_to(path)
    (about,) = site.glob("racetrap-*.dist-info")
    for package in _needed(PathDistribution(about), extras, set()):
        for file in package.files or ():
            is_command = file.parts[0] == ".."
            target = folder / "bin" / file.name if is_command else packages / file.parts[0]
            if not target.exists():
                source = package.locate_file(file if is_command else file.parts[0])
                target.symlink_to(Path(str(source)))
    return folder / "bin" / "python"


def _needed(
    package: Distribution, extras: Collection[str], done: set[tuple[str, frozenset[str]]]
) -> Iterator[Distribution]:
    """Packages that a package needs with some of its extras, and those that they need."""
    for requirement in map(Requirement, package.requires or ()):
        marker = requirement.marker
        if marker and not any(marker.evaluate({"extra": extra}) for extra in ("", *extras)):
            continue
        name = re.sub(r"[-_.]+", "-", requirement.name).lower()
        key = name, frozenset(requirement.extras)
        if key not in done:
            done.add(key)
            other = package if name == "racetrap" else distribution(name)
            if other is not package:
                yield other
            yield from _needed(other, requirement.extras, done)
