"""Planted bugs fit the sources, those that only a longer campaign plants, too."""

import importlib
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import ModuleType

import pytest

from racetrap.sim.cosim.verilator.build_cache import Patch
from tests.support import REPOSITORY

#: Folders that the files of planted bugs are relative to.
_FOLDERS = [REPOSITORY / name for name in ("rtl", "fpga")]


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


def _plant(patch: Patch) -> None:
    """Plant a bug in the one source of its file's name, without keeping the outcome."""
    [source] = [path for folder in _FOLDERS if (path := folder / patch.file).exists()]
    patch.changed(source.read_text(encoding="utf-8"))


def test_planted_bugs_fit_the_sources():
    modules = list(_modules())
    patches = {patch for module in modules for patch in _patches(list(vars(module).values()))}
    print(f"{len(patches)} planted bugs in {len(modules)} files")
    assert len(patches) > len(modules)
    for patch in patches:
        _plant(patch)


@pytest.mark.parametrize(
    ("file", "before"),
    [("init_engine", "index.eq(port | first)"), ("no_such_file", "class")],
    ids=["moved", "nowhere"],
)
def test_text_that_is_not_there_is_seen(file, before):
    with pytest.raises(ValueError, match=r"once|unpack"):
        _plant(Patch(f"gpu/{file}.py", before, ""))
