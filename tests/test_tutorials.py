"""Tutorials: files, commands and their output are as the pages say."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path
from time import monotonic
from typing import NamedTuple

import pytest

from tests.support import REPOSITORY
from tests.support.gpu.cuda_programs import needs_compiler

_README = REPOSITORY / "README.md"
_TUTORIALS = REPOSITORY / "docs" / "tutorials"
#: A block of code, and the line before it.
_BLOCK = re.compile(r"^([^\n]*)\n\n```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
#: What a tutorial may take.
_MOST_SECONDS = 15 * 60
#: The end of a line behind which a file stands.
_NAMED = re.compile(r"`([\w.]+)`:$")


class _Step(NamedTuple):
    """A file to write, or a command and its output."""

    name: str
    text: str
    is_command: bool


def steps(page: str) -> list[_Step]:
    """What a reader of a page does."""
    found = []
    for before, language, text in _BLOCK.findall(page):
        if language == "console":
            for part in re.split(r"^\$ ", text, flags=re.MULTILINE)[1:]:
                command, _, output = part.partition("\n")
                found.append(_Step(command, output, True))
        elif name := _NAMED.search(before):
            found.append(_Step(name[1], text, False))
    return found


def fits(expected: str, output: str) -> bool:
    """Whether an output is the expected one, in which ``...`` stands for anything."""
    parts = re.split(r"^\.\.\.\n|\.\.\.", expected, flags=re.MULTILINE)
    return re.fullmatch(".*?".join(map(re.escape, parts)), output, re.DOTALL) is not None


def follow(page: str, folder: Path, most_seconds: float = _MOST_SECONDS, before: str = "") -> None:
    """Do what a page says, each command behind what stands ``before`` all of them.

    With that, they find on PATH what a bare shell has.
    """
    begin = monotonic()
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    if before:
        path = os.defpath
    for name, text, is_command in steps(page):
        if not is_command:
            (folder / name).write_text(text)
            continue
        done = subprocess.run(
            ["bash", "-c", f"{before}\n{name}"], cwd=folder,
            env={**os.environ, "PATH": path, "COLUMNS": "200"}, stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL, text=True, check=False,
            timeout=begin + most_seconds - monotonic(),
        )  # fmt: skip
        assert fits(text, done.stdout), f"$ {name}\n{done.stdout}"


@pytest.fixture
def activation():
    """The command of README that puts ours on PATH, for a shell in any folder."""
    (found,) = re.findall(r"^    \. (\S+)", _README.read_text("utf-8"), re.MULTILINE)
    if not (REPOSITORY / found).is_file():
        pytest.skip("make setup has not made the environment here")
    return f". '{REPOSITORY / found}'"


@pytest.mark.parametrize(
    "page",
    [
        # Synthesis, placement and the simulation of a whole device take minutes.
        pytest.param(page, marks=[pytest.mark.campaign] if page.stem == "bitstream" else [])
        for page in sorted(_TUTORIALS.glob("*.md"))
    ],
    ids=lambda page: page.stem,
)
def test_following_a_tutorial_gives_what_it_shows(page, tmp_path, activation):
    text = page.read_text(encoding="utf-8")
    if page.stem == "generated-hardware":
        # It begins with the files of another.
        for step in steps((_TUTORIALS / "racy-kernel.md").read_text(encoding="utf-8")):
            if not step.is_command:
                (tmp_path / step.name).write_text(step.text)
    assert sum(step.is_command for step in steps(text)) >= 3
    follow(text, tmp_path, before=activation)


@needs_compiler
def test_commands_of_readme_in_a_bare_shell(activation):
    text = _README.read_text("utf-8")
    assert [step.name.split()[0] for step in steps(text)] == ["racetrap"]
    follow(text, REPOSITORY, before=activation)


@pytest.mark.usefixtures("activation")
def test_command_that_is_called_with_its_path():
    """README's other way."""
    (path,) = set(re.findall(r"\S*/bin/racetrap", _README.read_text("utf-8")))
    done = subprocess.run(
        [path, "--version"], cwd=REPOSITORY, env={"PATH": os.defpath}, capture_output=True,
        text=True, check=True,
    )  # fmt: skip
    assert done.stdout.startswith("racetrap, version")


def test_output_that_is_another_is_seen(tmp_path):
    page = "`a.txt`:\n\n```text\nb\n```\n\nThen:\n\n```console\n$ cat a.txt; echo c\n{}\n```\n"
    follow(page.format("b\nc"), tmp_path)
    follow(page.format("...\nc"), tmp_path)
    follow(page.format("b\nc\n..."), tmp_path)
    for wrong in ("b", "b\nd", "...\nb", "c\nb"):
        with pytest.raises(AssertionError, match=r"cat a\.txt"):
            follow(page.format(wrong), tmp_path)


def test_a_tutorial_that_takes_too_long_is_stopped(tmp_path):
    page = "Then:\n\n```console\n$ true\n$ sleep 60\n```\n"
    with pytest.raises(subprocess.TimeoutExpired, match="sleep 60"):
        follow(page, tmp_path, most_seconds=0.5)
