"""Tutorials: files, commands and their output are as the pages say."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path
from time import monotonic
from typing import NamedTuple

import pytest

from racetrap.sim.riscv import zig
from tests.support import REPOSITORY
from tests.support.campaign import later_but
from tests.support.gpu.cuda_programs import needs_compiler

_README = REPOSITORY / "README.md"
_TUTORIALS = REPOSITORY / "docs" / "tutorials"
#: A block of code, and the line before it.
_BLOCK = re.compile(r"^([^\n]*)\n\n```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
#: What a tutorial may take.
_MOST_SECONDS = 15 * 60
#: What a reader does first, in the checkout.
_PREPARE = re.compile(r"^After `make demo` in the checkout, call `(.*)` there, ", re.MULTILINE)
#: A command in a sentence, whose files the page has made; capital letters stand for others.
_INLINE = re.compile(r"`(racetrap [a-z-]+ [^`A-Z]+)`")
#: Pages whose samples are run in the checkout.
_WITH_SAMPLES = ("reports",)
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


def path_after(line: str, checkout: Path) -> str:
    """What a line that a reader calls in a checkout makes of a bare shell's ``PATH``."""
    checkout.mkdir()
    (checkout / ".venv").symlink_to(sys.prefix)
    bare = os.pathsep.join(
        place for place in os.environ["PATH"].split(os.pathsep)
        if not (Path(place) / "racetrap").exists()
    )  # fmt: skip
    done = subprocess.run(
        ["bash", "-c", f"{line}\nprintenv PATH"], cwd=checkout, env={**os.environ, "PATH": bare},
        stdout=subprocess.PIPE, text=True, check=True,
    )  # fmt: skip
    return done.stdout.removesuffix("\n")


def follow(
    page: str, folder: Path, most_seconds: float = _MOST_SECONDS, path: str = os.environ["PATH"]
) -> None:
    """Do what a page says."""
    begin = monotonic()

    def run(command: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            ["bash", "-c", command], cwd=folder, env={**os.environ, "PATH": path, "COLUMNS": "200"},
            stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, check=False,
            timeout=begin + most_seconds - monotonic(),
        )  # fmt: skip

    for name, text, is_command in steps(page):
        if not is_command:
            (folder / name).write_text(text)
            continue
        done = run(name)
        assert fits(text, done.stdout), f"$ {name}\n{done.stdout}"
    for command in _INLINE.findall(page):
        # Races are no failure: a page may show some.
        assert run(command).returncode in (0, 1), f"$ {command}"


#: In `make tutorials`: they build simulators, or a bitstream, or search long.
_LATER = (
    "bitstream",
    "generated-hardware",
    "live-system",
    "own-verilog",
    "racy-kernel",
    "threaded-program",
)


@pytest.mark.parametrize(
    "page",
    later_but(lambda page: page.stem not in _LATER, sorted(_TUTORIALS.glob("*.md"))),
    ids=lambda page: page.stem,
)
def test_following_a_tutorial_gives_what_it_shows(page, tmp_path):
    text = page.read_text(encoding="utf-8")
    if page.stem == "live-system" and not (find_spec("pythondata_cpu_picorv32") and zig()):
        pytest.skip("Core PicoRV32 and a compiler for it: extra soc")
    if page.stem == "generated-hardware":
        # It begins with the files of another.
        for step in steps((_TUTORIALS / "racy-kernel.md").read_text(encoding="utf-8")):
            if not step.is_command:
                (tmp_path / step.name).write_text(step.text)
    assert sum(step.is_command for step in steps(text)) >= 3
    (prepare,) = _PREPARE.findall(text)
    follow(text, tmp_path, path=path_after(prepare, tmp_path / "checkout"))


def test_the_bitstream_takes_the_cells_that_the_page_of_the_boards_states():
    """Both pages show the same build, which only `make tutorials` has time for."""
    tutorial = (_TUTORIALS / "bitstream.md").read_text("utf-8")
    shown = re.findall(r"^│ (ICESTORM_\w+) +│ +(\S+)", tutorial, re.MULTILINE)
    assert len(shown) == 2
    boards = (REPOSITORY / "docs" / "fpga.md").read_text("utf-8")
    (row,) = re.findall(r"^\| `scord-local` on `ice40-hx8k` \|.*", boards, re.MULTILINE)
    for cell, count in shown:
        (stated,) = re.findall(rf"([\d,]+) {cell}\b", row)
        assert fits(count, stated), f"{cell}: {count} in the tutorial, {stated} on the page"


@pytest.mark.parametrize("page", _WITH_SAMPLES)
def test_samples_of_a_page_are_what_the_commands_print(page, tmp_path):
    text = (REPOSITORY / "docs" / f"{page}.md").read_text(encoding="utf-8")
    assert sum(step.is_command for step in steps(text)) >= 2
    path = path_after('PATH="$PWD/.venv/bin:$PATH"', tmp_path / "checkout")
    follow(text, REPOSITORY, path=path)


def test_a_command_in_a_sentence_that_fails_is_seen(tmp_path):
    path = path_after('PATH="$PWD/.venv/bin:$PATH"', tmp_path / "checkout")
    page = "`racetrap schema check`, `racetrap run ./OTHER`, `racetrap check`."
    follow(page, tmp_path, path=path)
    with pytest.raises(AssertionError, match=r"racetrap check missing\.trace"):
        follow("Then `racetrap check missing.trace`.", tmp_path, path=path)


def _readme_line() -> str:
    """The command of README that puts ours on PATH."""
    (line,) = re.findall(r"^    (\. \S+)", _README.read_text("utf-8"), re.MULTILINE)
    return line


@needs_compiler
def test_commands_of_readme_in_a_bare_shell(tmp_path):
    # What is behind it are figures, whose commands may run for hours.
    text = _README.read_text("utf-8").partition("## Results")[0]
    assert [step.name.split()[0] for step in steps(text)] == ["racetrap"]
    follow(text, REPOSITORY, path=path_after(_readme_line(), tmp_path / "checkout"))


def test_command_that_is_called_with_its_path(tmp_path):
    """README's other way."""
    path_after(_readme_line(), checkout := tmp_path / "checkout")
    (path,) = set(re.findall(r"\S*/bin/racetrap", _README.read_text("utf-8")))
    done = subprocess.run(
        [path, "--version"], cwd=checkout, env={"PATH": os.defpath}, capture_output=True,
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
