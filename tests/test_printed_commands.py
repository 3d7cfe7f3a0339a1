"""Command lines in code blocks of pages: each runs from the checkout, or there is a reason."""

from __future__ import annotations

import os
import re
import subprocess
import textwrap
from collections.abc import Iterator
from typing import NamedTuple

import pytest

from tests.support import REPOSITORY
from tests.support.gpu.cuda_programs import needs_compiler
from tests.test_tutorials import fits, path_after

_PROGRAMS = (
    "racetrap", "make", "python", "pytest", "gcc", "pip", "cd", "fusesoc", "dask", "gtkwave",
    "surfer", "./fft", "./configure", ".",
)  # fmt: skip
_COMMAND = re.compile(rf"(?:{'|'.join(map(re.escape, _PROGRAMS))}) ")
#: Why a command line is not run here; the first expression that fits is the reason.
_NOT_RUN = {
    r"/dev/ttyUSB": "needs a board",
    r"^(?:gtkwave|surfer) ": "a window of another program",
    r"^(?:pip|fusesoc|dask) |192\.168|/litex/": "needs a network or programs of others",
    r"\b(?:[A-Z]{4,}|NAME|FILE|\.\.\.)(?:\b|$)|\[": "words stand for others",
    r"\b(?:driver|program|more)\.|\brun\.trace|<\(|\./(?:program|app|configure)":
        "files stand for the reader's",
    r"^(?:make|pytest|\.) ": "a target of make, or a test",
    r"^racetrap evaluate rules atomic": "stopped by hand",
    r"^racetrap (?:--jobs . )?(?:bench|campaign|cost|evaluate|fpga build|simulate scord"
    r"|sweep \S+-(?:scord|sig))": "takes minutes",
    r"^python -m .*(?:cosimulation|history|_programs phase)": "takes minutes",
    r"^racetrap (?:vortex|soc)": "needs the Verilog of a GPU or a core of others",
    r"^cd |^racetrap check dot_product": "its page's own test",
}  # fmt: skip
#: Those that take more than some two seconds, in `make tutorials` and `make campaign`.
_LATER = re.compile(
    r"^racetrap (?:--jobs \S+ )?(?:scord$|stress|sweep|generate|litmus .*\*)"
    r"|handover\.(?:cu|trace)|block-sum"
    r"|^python -m "
)


class _Line(NamedTuple):
    """A command line, and the output that the page shows, if any."""

    command: str
    output: str | None


def _blocks(text: str) -> Iterator[str]:
    """Blocks of code without a language: indented, or between fences; the others are followed by
    the test of tutorials."""
    language, block = None, ""
    for line in [*text.replace("\\\n", " ").split("\n"), ""]:
        if line.startswith("```"):
            language = line[3:] if language is None else None
        elif language == "" or (language is None and (not line or line.startswith("    "))):
            block += f"{line}\n"
            continue
        yield textwrap.dedent(block).strip("\n")
        block = ""


def command_lines(text: str) -> Iterator[_Line]:
    """Command lines of a page in their order."""
    for block in _blocks(text):
        if block.startswith("$ "):
            for part in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
                command, _, output = part.partition("\n")
                yield _Line(command, output.strip("\n"))
        else:
            for line in block.split("\n"):
                if _COMMAND.match(f"{line} "):
                    yield _Line(re.sub(r"\s+#.*", "", line), None)


def _is_run(command: str) -> bool:
    return not any(re.search(expression, command) for expression in _NOT_RUN)


def _pages() -> list[tuple[str, list[_Line]]]:
    paths = (*REPOSITORY.glob("*.md"), *sorted((REPOSITORY / "docs").rglob("*.md")))
    return [
        (str(path.relative_to(REPOSITORY)), list(command_lines(path.read_text("utf-8"))))
        for path in paths
    ]


def _cases() -> list[object]:
    """Pages, with the lines to run: the quick ones now, all of them later."""
    cases = []
    for page, lines in _pages():
        run = [line for line in lines if _is_run(line.command)]
        quick = [line for line in run if not _LATER.search(line.command)]
        if quick:
            cases.append(pytest.param(quick, id=page))
        if run != quick:
            marks = [pytest.mark.campaign]
            marks += [needs_compiler] if any(".cu" in line.command for line in run) else []
            cases.append(pytest.param(run, marks=marks, id=f"{page}, all"))
    return cases


@pytest.mark.parametrize("lines", _cases())
def test_printed_commands_run(lines, tmp_path):
    path = path_after('PATH="$PWD/.venv/bin:$PATH"', checkout := tmp_path / "checkout")
    for name in ("docs", "sim"):
        (checkout / name).symlink_to(REPOSITORY / name)
    for command, output in lines:
        done = subprocess.run(
            ["bash", "-c", command], cwd=checkout, capture_output=True, text=True, check=False,
            env={**os.environ, "PATH": path, "COLUMNS": "200"},
        )  # fmt: skip
        # Races are no failure: a page may show some.
        assert done.returncode in (0, 1), done.stderr
        assert "Traceback" not in done.stderr
        assert output is None or fits(output, done.stdout.strip("\n")), done.stdout


def test_each_reason_is_of_a_command():
    commands = [line.command for _, lines in _pages() for line in lines]
    assert len(commands) > 90
    for expression in _NOT_RUN:
        assert any(re.search(expression, command) for command in commands), expression


def test_command_lines_are_found():
    page = "Text:\n\n    racetrap one  # why\n    other\n\nAnd\n\n    $ racetrap two\n    out\n\n"
    page += "```\nmake three\n```\n\n```console\n$ racetrap four\n```\n"
    assert list(command_lines(page)) == [
        ("racetrap one", None), ("racetrap two", "out"), ("make three", None),
    ]  # fmt: skip
