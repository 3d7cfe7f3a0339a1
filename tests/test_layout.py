"""Layout: where a file lies tells what it is, in every top folder alike."""

import ast
import re
import subprocess
from collections import defaultdict
from pathlib import Path

import pytest

from racetrap.generators.systems import SYSTEMS
from tests.support import REPOSITORY

_FOLDERS = {
    "golden_model", "rtl", "generators", "sim", "tb", "fpga", "evaluation", "racetrap",
}  # fmt: skip
#: The verdict is a room of its own: evaluation asks it, too.
_VERDICT = "racetrap/verdict"
#: What each room may import: one way only.
_IMPORTS = {
    "golden_model": set(),
    "rtl": {"golden_model"},
    "generators": {"golden_model", "rtl"},
    "sim": {"golden_model", "rtl", "generators"},
    "tb": {"golden_model", "rtl", "generators", "sim"},
    "fpga": {"golden_model", "rtl", "generators", "sim"},
    _VERDICT: _FOLDERS - {"racetrap", "evaluation"},
    "evaluation": _FOLDERS - {"racetrap"} | {_VERDICT},
    "racetrap": _FOLDERS | {_VERDICT},
}
#: Detectors that can be generated, with the least number of blocks that have the same name in model
#: and hardware: each has a folder of its name in all of these.
_METHODS = {"scord": 8, "sigrace": 8, "noncoherent": 4}
_ROOMS_OF_A_METHOD = ("golden_model", "rtl", "tb", "sim/cosim", "evaluation")


def _sources() -> list[Path]:
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard", "*.py"],
        cwd=REPOSITORY, capture_output=True, text=True, check=False,
    )  # fmt: skip
    if listed.returncode:
        pytest.skip("The layout is that of a git checkout")
    paths = [Path(name) for name in listed.stdout.split("\0") if name]
    return [path for path in paths if (REPOSITORY / path).is_file() and path.name != "__init__.py"]


def _imports(path: Path) -> set[str]:
    """Modules of ours that a file imports, as paths without suffix."""
    found = set()
    for node in ast.walk(ast.parse((REPOSITORY / path).read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.module:
            found |= {f"{node.module}.{alias.name}" for alias in node.names}
        elif isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
    names = (name.split(".")[1:] for name in found if name.startswith("racetrap."))
    return {"/".join(name if name[0] in _FOLDERS else ["racetrap", *name]) for name in names}


def _folder_of(module: str) -> str:
    """Folder of an imported module, whose last parts may be names in it."""
    path = REPOSITORY / module
    while not path.with_suffix(".py").is_file() and not path.is_dir():
        path = path.parent
    folder = path if path.is_dir() else path.parent
    return str(folder.relative_to(REPOSITORY))


def _arrows() -> dict[str, set[str]]:
    """Folders that the modules of each folder import."""
    arrows: dict[str, set[str]] = defaultdict(set)
    for path in _sources():
        if path.parts[0] in _FOLDERS:
            here = str(path.parent)
            arrows[here] |= {_folder_of(module) for module in _imports(path)} - {here, "racetrap"}
    return arrows


def _room_of(folder: str) -> str:
    return _VERDICT if folder.startswith(_VERDICT) else folder.split("/")[0]


def test_imports_go_one_way_between_top_folders():
    for here, targets in _arrows().items():
        room = _room_of(here)
        assert set(map(_room_of, targets)) <= _IMPORTS[room] | {room}, here


def test_no_cycle_between_folders():
    arrows = _arrows()
    done: set[str] = set()

    def visit(folder: str, way: tuple[str, ...]) -> None:
        assert folder not in way, " -> ".join((*way[way.index(folder) :], folder))
        if folder not in done:
            for target in sorted(arrows[folder]):
                visit(target, (*way, folder))
            done.add(folder)

    for folder in sorted(arrows):
        visit(folder, ())


@pytest.mark.parametrize("method", _METHODS)
def test_a_method_has_a_folder_in_each_room(method):
    for room in _ROOMS_OF_A_METHOD:
        assert (REPOSITORY / room / method).is_dir(), f"{room}/{method}"


def test_a_block_has_one_name_in_model_and_hardware():
    """RTL without a model of the same name is structure: what only hardware has."""
    assert _METHODS.keys() == {system.name for system in SYSTEMS}
    for method, least in _METHODS.items():
        models = {path.name for path in (REPOSITORY / "golden_model" / method).glob("*.py")}
        blocks = {path.name for path in (REPOSITORY / "rtl" / method).glob("*.py")}
        assert len(models & blocks) >= least, method


#: How shared code names the detector that the page takes for its example.
_NAMED = re.compile(
    r"NoncoherentParams|\"noncoherent\"|NONCOHERENT(_PRESETS)?\b|cosim\.noncoherent"
    r"|noncoherent_(top|run|testbench|quality)"
)
_QUOTED = re.compile(r"`((?:\w+/)+\w+\.\w+)`")


def _rows(page: str) -> str:
    text = (REPOSITORY / "docs" / "how-to" / page).read_text(encoding="utf-8")
    return "\n".join(line for line in text.splitlines() if line.startswith("|"))


def test_the_page_on_adding_a_detector_has_every_shared_file():
    named = {
        str(path) for path in _sources()
        if path.parts[0] in _FOLDERS and "noncoherent" not in path.parts[:-1]
        and path.parts[:2] != ("sim", "accelerator")
        and _NAMED.search((REPOSITORY / path).read_text(encoding="utf-8"))
    }  # fmt: skip
    assert set(_QUOTED.findall(_rows("add-a-detector.md"))) == named


def test_the_page_on_adding_a_block_has_every_file_that_names_its_example():
    named = re.compile(r"lock_tables?\b|LockTables?\b")
    found = {
        str(path.relative_to(REPOSITORY))
        for folder in _FOLDERS - {"racetrap"} for suffix in ("py", "h", "cpp")
        for path in (REPOSITORY / folder).rglob(f"*.{suffix}")
        if named.search(path.read_text(encoding="utf-8"))
    }  # fmt: skip
    quoted = set(_QUOTED.findall(_rows("add-a-block.md")))
    # That of the evaluation of locks only reads what a tracker has.
    assert {name for name in quoted if not name.startswith("tests/")} == found - {
        "racetrap/verdict/scord/held_locks.py"
    }


def test_tests_mirror_the_tree():
    for path in _sources():
        if path.parts[0] == "tests" and path.parts[1] in _FOLDERS:
            assert (REPOSITORY / path.relative_to("tests")).parent.is_dir(), path


def test_every_folder_is_a_package_and_a_link():
    for folder in _FOLDERS - {"racetrap"}:
        assert (REPOSITORY / "racetrap" / folder).resolve() == REPOSITORY / folder
    for path in _sources():
        if path.parts[0] in _FOLDERS:
            assert (REPOSITORY / path.parent / "__init__.py").is_file(), path.parent


def test_lists_of_folders_in_the_makefile_are_complete():
    text = (REPOSITORY / "Makefile").read_text(encoding="utf-8")
    assert set(re.search(r"^SOURCES := (.*)$", text, re.MULTILINE)[1].split()) == _FOLDERS
