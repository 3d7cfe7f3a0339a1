"""Planted bugs fit the sources, those that only a longer campaign plants, too."""

import importlib
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from types import ModuleType

import pytest

from racetrap.sim.cosim.verilator.patch import Patch
from tests.support import REPOSITORY

#: Folders that the files of planted bugs are relative to.
_FOLDERS = [
    REPOSITORY / name
    for name in ("", "rtl", "golden_model", "fpga", "sim/cosim/scord/compiled", "sim/cpu")
]


def _patches(value: object) -> Iterator[Patch]:
    """Patches in a table, or in what has one."""
    if isinstance(value, Patch):
        yield value
    elif isinstance(value, Mapping):
        for each in value.values():
            yield from _patches(each)
    elif isinstance(value, list | tuple):
        for each in value:
            yield from _patches(each)
    elif isinstance(getattr(value, "patch", None), Patch):
        yield value.patch
    for mark in getattr(value, "pytestmark", ()):
        yield from _patches(mark.args)


def _modules() -> Iterator[ModuleType]:
    """Modules in which patches may stand."""
    for top, package in (("tests", "tests"), ("fpga", "racetrap.fpga")):
        folder = REPOSITORY / top
        for path in sorted(folder.rglob("*.py")):
            if path != Path(__file__) and "import Patch" in path.read_text(encoding="utf-8"):
                parts = path.relative_to(folder).with_suffix("").parts
                yield importlib.import_module(".".join((package, *parts)))


def _source(patch: Patch) -> Path:
    """The one source that a planted bug fits; ``ValueError`` if there is none, or another."""
    sources = []
    for path in (folder / patch.file for folder in _FOLDERS):
        with suppress(OSError, ValueError):
            patch.changed(path.read_text(encoding="utf-8"))
            sources.append(path)
    if len(sources) != 1:
        raise ValueError(f"{patch} must fit one source, not {len(sources)}")
    return sources[0]


@pytest.fixture(scope="module")
def sources():
    """Source of each planted bug, by the bug."""
    modules = list(_modules())
    found = {patch for module in modules for patch in _patches(list(vars(module).values()))}
    print(f"{len(found)} planted bugs in {len(modules)} files")
    assert len(found) > len(modules)
    return {patch: _source(patch) for patch in sorted(found, key=lambda patch: patch.file)}


def test_planted_bugs_fit_the_sources(sources):
    assert {path.suffix for path in sources.values()} >= {".py", ".h", ".cpp"}


def test_planted_bugs_are_valid_python(sources):
    for patch, path in sources.items():
        if path.suffix == ".py":
            compile(patch.changed(path.read_text(encoding="utf-8")), str(patch), "exec")


@pytest.mark.parametrize("length", [60, 140])
def test_planted_bugs_fit_sources_with_lines_of_another_length(sources, length, tmp_path):
    in_python = {patch: path for patch, path in sources.items() if path.suffix == ".py"}
    copies = {path: tmp_path / path.relative_to(REPOSITORY) for path in in_python.values()}
    for path, copy in copies.items():
        copy.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(path, copy)
    command = [sys.executable, "-m", "ruff", "format", "--isolated", "--line-length", str(length)]
    subprocess.run([*command, str(tmp_path)], check=True, capture_output=True)
    assert len([path for path in copies if path.read_bytes() != copies[path].read_bytes()]) > 40
    for patch, source in in_python.items():
        expected, found = (
            patch.changed(path.read_text(encoding="utf-8")) for path in (source, copies[source])
        )
        assert expected == found, patch


@pytest.mark.parametrize(
    ("file", "before"),
    [("init_engine", "index.eq(port | first)"), ("no_such_file", "class")],
    ids=["moved", "nowhere"],
)
def test_text_that_is_not_there_is_seen(file, before):
    patch = Patch(f"gpu/{file}.py", before, "")
    with pytest.raises(ValueError, match="must fit one source, not 0"):
        _source(patch)
