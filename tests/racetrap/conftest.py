"""Traces for the commands, a race between blocks and the same without it; how to run; what is
not installed; all that they write as JSON held against its schema."""

import io
import json
import sys
from collections.abc import Callable
from functools import cache
from pathlib import Path
from types import SimpleNamespace

import click
import pytest
from click.testing import CliRunner, Result

from racetrap.cli import cli
from racetrap.commands.shared import long_work, terminal
from tests.support.pages.schemas import check_document

_HEAD = """\
racetrap-trace 2
system scord
geometry sm_count=2 blocks_per_sm=2 warps_per_sm=4
region data_base=0x10000 size_log2=16
source "test"
kernel_begin
block_placed sm=0 slot=0 warp=0 warp_count=2 grid_block=40
block_placed sm=1 slot=1 warp=2 warp_count=2 grid_block=41
"""
_TAIL = """\
block_retired sm=0 slot=0
block_retired sm=1 slot=1
kernel_end
"""
_STORE = "store sm=0 slot=0 warp=1 pc=0x40 size=4 strong device lanes 0:0x10004\n"
_FENCE = "fence sm=0 slot=0 warp=1 pc=0x44 device\n"
_LOAD = "load sm=1 slot=1 warp=2 pc=0x48 size=4 strong device lanes 3:0x10004\n"


@pytest.fixture
def write(tmp_path: Path) -> Callable[[str], str]:
    """Writes a text trace of two blocks that do what the given lines say."""

    def _write(body: str) -> str:
        path = tmp_path / "body.txt"
        path.write_text(_HEAD + body + _TAIL)
        return str(path)

    return _write


@pytest.fixture
def racy(write: Callable[[str], str]) -> str:
    return write(_STORE + _LOAD)


@pytest.fixture
def race_free(write: Callable[[str], str]) -> str:
    return write(_STORE + _FENCE + _LOAD)


@pytest.fixture
def racetrap() -> Callable[..., Result]:
    """Runs the command line in this process."""

    def run(*arguments: object) -> Result:
        result = CliRunner().invoke(cli, [str(argument) for argument in arguments])
        if result.exception is not None and not isinstance(result.exception, SystemExit):
            raise result.exception
        return result

    return run


@pytest.fixture(autouse=True)
def documents(monkeypatch: pytest.MonkeyPatch) -> None:
    """What a command writes as JSON in this process is what its schema says."""
    write_document = terminal.write_document

    def write_checked(target, data):
        text = io.StringIO()
        write_document(text, data)
        context = click.get_current_context(silent=True)
        # SARIF has a schema of its own, and tests of it.
        if context is not None and not (isinstance(data, dict) and "$schema" in data):
            command = context.command_path.partition(" ")[2]
            check_document(command, json.loads(text.getvalue()))
        target.write(text.getvalue())

    monkeypatch.setattr(terminal, "write_document", write_checked)


@pytest.fixture(autouse=True)
def own_rows(monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory) -> None:
    """Rows of long work are kept for this test alone."""
    folder = cache(lambda: tmp_path_factory.mktemp("rows"))
    monkeypatch.setattr(long_work, "cache_folder", folder)


@pytest.fixture
def without(monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Makes a package one that is not installed, and modules that import it not yet imported."""

    def _without(package: str, *importers: str) -> None:
        def find_spec(name, *_):
            if name.partition(".")[0] == package:
                raise ModuleNotFoundError(f"No module named {name!r}", name=name)

        for name in [*importers, *sys.modules]:
            if name in importers or name.partition(".")[0] == package:
                monkeypatch.delitem(sys.modules, name, raising=False)
        monkeypatch.setattr(
            sys, "meta_path", [SimpleNamespace(find_spec=find_spec), *sys.meta_path]
        )

    return _without
