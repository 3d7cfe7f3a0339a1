"""Planted bugs fit the sources, those that only a longer campaign plants, too."""

import importlib
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from types import ModuleType

from racetrap.sim.cosim.verilator.build_cache import Patch
from tests.support import REPOSITORY

#: Folders that the files of planted bugs are relative to.
_FOLDERS = [REPOSITORY / name for name in ("rtl", "rtl/noncoherent", "fpga/boards")]
_TABLES = sorted(
    path.relative_to(REPOSITORY).with_suffix("")
    for top in ("tests", "fpga/boards")
    for path in (REPOSITORY / top).rglob("*.py")
    if "import Patch" in path.read_text(encoding="utf-8") and path != Path(__file__)
)


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


def _sources(patch: Patch) -> list[str]:
    files = [folder / patch.file for folder in _FOLDERS]
    return [file.read_text(encoding="utf-8") for file in files if file.exists()]


def _modules() -> Iterator[ModuleType]:
    for table in _TABLES:
        name = ".".join(table.parts)
        yield importlib.import_module(name if name.startswith("tests") else f"racetrap.{name}")


def _misfits(patches: Iterable[Patch]) -> list[Patch]:
    """Those whose text does not occur once in the one file of that name."""
    return [
        patch
        for patch in patches
        if sum(source.count(patch.before) for source in _sources(patch)) != 1
    ]


def test_text_of_planted_bugs_occurs_once():
    patches = {patch for module in _modules() for patch in _patches(list(vars(module).values()))}
    print(f"{len(patches)} planted bugs in {len(_TABLES)} files")
    assert len(patches) > len(_TABLES)
    assert _misfits(patches) == []


def test_text_that_has_moved_is_seen():
    moved = Patch("scord/init_engine.py", "index.eq(port | first)", "")
    nowhere = Patch("scord/no_such_file.py", "class", "")
    assert _misfits([moved, nowhere]) == [moved, nowhere]
    assert _misfits([Patch("scord/init_engine.py", "class InitEngine", "")]) == []
