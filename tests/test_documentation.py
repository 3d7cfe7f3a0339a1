"""README and pages: the commands, options and files that they name exist, and no link is dead."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from importlib.util import find_spec
from pathlib import Path

import click
import pytest

from racetrap.cli import cli
from racetrap.generators.presets import PRESETS
from tests.support import REPOSITORY

_PAGES = ("README.md", "CONTRIBUTING.md", *sorted(str(page.relative_to(REPOSITORY)) for page in
          (REPOSITORY / "docs").rglob("*.md")))  # fmt: skip
#: A command line as an inline quotation, as a line of a code block, or in a table.
_COMMAND = re.compile(
    r"(?:^|[`/(]|\s{4})racetrap (?:--jobs \S+ )?((?:[a-z][a-z-]* ?)+[^`#\n]*)", re.MULTILINE
)
#: A quoted path in one of our folders, without wildcards.
_FILE = re.compile(
    r"`((?:docs|evaluation|fpga|generators|golden_model|racetrap|rtl|sim|tb|tests)/[\w./-]*)`"
)

#: Modules that are called, and targets of make.
_MODULE = re.compile(r"python -m ((?:racetrap|tests|docs)(?:\.\w+)+)")
_TARGET = re.compile(r"(?:`|^    |^)make ([a-z][a-z-]*)", re.MULTILINE)

#: A link without a scheme: the file, if it is another, and the heading.
_LINK = re.compile(r"\[[^\]]*\]\(((?!\w+:)[^)#\s]*)(?:#([^)\s]*))?\)")
_CODE = re.compile(r"^(```+).*?^\1$", re.MULTILINE | re.DOTALL)
_HEADING = re.compile(r"^#{1,3} (.+)$", re.MULTILINE)


def _command_lines(page: str) -> Iterator[str]:
    text = (REPOSITORY / page).read_text(encoding="utf-8").replace("\\\n", " ")
    yield from _COMMAND.findall(text)


def _wrong(line: str) -> list[str]:
    """Words of a command line that the program does not know."""
    words = line.split()
    if "." in words[0] or words[0] in PRESETS:  # the front door
        return []
    context = click.Context(cli)
    command: click.Command = cli
    while words and isinstance(command, click.Group):
        found = command.get_command(context, words[0])
        if found is None:
            return words[:1]
        command = found
        words.pop(0)
    parameters = command.get_params(click.Context(command))
    known = {
        name for parameter in parameters for name in (*parameter.opts, *parameter.secondary_opts)
    } | {"-h"}
    for parameter in parameters:  # options of nvcc
        known |= {each.value for each in getattr(parameter, "completions", lambda _: ())("-")}
    options = re.findall(r"(?<![\w-])--?[a-z][a-z0-9-]*", " ".join(words).split(" -- ")[0])
    # A value may follow the letter of one of nvcc's.
    return [option for option in options if not {option, option[:2]} & known]


@pytest.mark.parametrize("page", _PAGES)
def test_files_of_a_page(page):
    text = (REPOSITORY / page).read_text(encoding="utf-8")
    for name in _FILE.findall(text):
        assert (REPOSITORY / name).exists()


@cache
def _anchors(page: Path) -> set[str] | None:
    """Headings of a page as links name them; none if more of them are generated."""
    text = page.read_text(encoding="utf-8")
    if "```{generated}" in text:
        return None
    headings = _HEADING.findall(_CODE.sub("", text))
    return {re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-") for heading in headings}


def _dead_links(page: Path, text: str) -> list[str]:
    dead = []
    for file, heading in _LINK.findall(_CODE.sub("", text)):
        target = page.parent / file if file else page
        if not target.exists():
            dead.append(file)
        elif heading and (anchors := _anchors(target)) is not None and heading not in anchors:
            dead.append(f"{file}#{heading}")
    return dead


@pytest.mark.parametrize("page", _PAGES)
def test_links_of_a_page(page):
    assert _dead_links(REPOSITORY / page, (REPOSITORY / page).read_text(encoding="utf-8")) == []


def test_dead_links_are_found(tmp_path):
    page, other = tmp_path / "page.md", tmp_path / "other.md"
    page.write_text(
        "# My page\n\n[a](other.md), [b](none.md), [c](#my-page), [d](#mine),\n"
        "[e](other.md#its-own), [f](other.md#more), [g](https://example.org/x.md)\n\n```\n[h](code.md)\n```\n"
    )
    other.write_text("# Other\n\n## Its own\n\n```\n# more\n```\n")
    assert _dead_links(page, page.read_text()) == ["none.md", "#mine", "other.md#more"]


def test_the_first_page_links_to_every_other():
    index = (REPOSITORY / "docs" / "index.md").read_text(encoding="utf-8")
    pages = [page for page in _PAGES if page.startswith("docs/") and page != "docs/index.md"]
    assert [page for page in pages if f"]({page.removeprefix('docs/')})" not in index] == []


@pytest.mark.parametrize("page", _PAGES)
def test_commands_of_a_page(page):
    wrong = {line: words for line in _command_lines(page) if (words := _wrong(line))}
    assert not wrong


@pytest.mark.parametrize("page", _PAGES)
def test_modules_and_targets_of_a_page(page):
    text = (REPOSITORY / page).read_text(encoding="utf-8")
    makefile = (REPOSITORY / "Makefile").read_text(encoding="utf-8")
    for module in _MODULE.findall(text):
        assert find_spec(module), module
    for target in _TARGET.findall(text):
        assert f"\n{target}: " in makefile or f"\n{target}:\n" in makefile, target


def test_modules_and_targets_are_found():
    text = "".join((REPOSITORY / page).read_text(encoding="utf-8") for page in _PAGES)
    assert len(set(_MODULE.findall(text))) > 8
    assert {"test", "board-simulation"} < set(_TARGET.findall(text))


def test_commands_are_found():
    assert sum(1 for page in _PAGES for _ in _command_lines(page)) > 60
    assert _wrong("campaign --volum 3") == ["--volum"]
    assert _wrong("simulat scord") == ["simulat"]
    assert _wrong("bank.c --seed 3") == _wrong("scord") == []
