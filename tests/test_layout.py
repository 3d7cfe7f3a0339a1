"""Layout: where a file lies tells what it is, in every top folder alike."""

import ast
import re
import subprocess
from collections import defaultdict
from functools import cache
from pathlib import Path

import pytest

from racetrap.generators.system import System
from racetrap.generators.systems import SYSTEMS
from racetrap.golden_model.trace import Trace
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
#: Rooms in which each detector has a folder of its name.
_ROOMS_OF_A_METHOD = ("golden_model", "rtl", "tb", "sim/cosim", "fpga", "evaluation")
#: Blocks that model and hardware of a detector have in common at least.
_COMMON_BLOCKS = 4
#: What only detectors with a device for boards have.
_OF_BOARDS = {"stream_trace"}
#: Places in shared code that ask which detector they hold.
_DISTINCTIONS = 5


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


@pytest.mark.parametrize("system", SYSTEMS, ids=lambda system: system.name)
def test_a_detector_has_a_folder_in_each_room(system):
    for room in _ROOMS_OF_A_METHOD:
        assert (REPOSITORY / room / system.name).is_dir(), f"{room}/{system.name}"


@pytest.mark.parametrize("system", SYSTEMS, ids=lambda system: system.name)
def test_a_block_has_one_name_in_model_and_hardware(system):
    """RTL without a model of the same name is structure: what only hardware has."""
    models = {path.name for path in (REPOSITORY / "golden_model" / system.name).glob("*.py")}
    blocks = {path.name for path in (REPOSITORY / "rtl" / system.name).glob("*.py")}
    assert len(models & blocks) >= _COMMON_BLOCKS


def test_what_runs_on_a_gpu_knows_no_detector():
    """Only the suite with verdicts of ScoRD asks it."""
    asking = {
        path.parent.as_posix() for path in _sources() if path.parts[:2] == ("sim", "gpu")
        if any(name.startswith(("golden_model/scord", "generators/scord", "rtl/scord"))
               for name in _imports(path))
    }  # fmt: skip
    assert asking == {"sim/gpu/suites/micro"}


@cache
def _shared_trees() -> list[tuple[Path, ast.AST]]:
    """Product code outside the detectors' own folders and files."""
    names = {system.name for system in SYSTEMS}
    return [
        (path, ast.parse((REPOSITORY / path).read_text(encoding="utf-8")))
        for path in _sources()
        if path.parts[0] in _FOLDERS and not any(name in str(path) for name in names)
    ]


def _asks_which_detector(node: ast.AST) -> bool:
    """Whether a node looks at the class of a detector's objects, or compares or maps its name."""
    names = {system.name for system in SYSTEMS}
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
        classes = [each.id for part in node.args for each in ast.walk(part)
                   if isinstance(each, ast.Name)]  # fmt: skip
        begun = tuple(name.capitalize() for name in names)
        return node.func.id == "isinstance" and any(each.startswith(begun) for each in classes)
    if isinstance(node, ast.Compare):
        parts = [node.left, *node.comparators]
        return any(isinstance(part, ast.Constant) and part.value in names for part in parts)
    if isinstance(node, ast.Dict):
        keys = {key.value for key in node.keys if isinstance(key, ast.Constant)}
        return len(keys & names) > 1
    return False


def test_shared_code_does_not_ask_which_detector_it_holds():
    found = [
        f"{path}:{node.lineno}"
        for path, tree in _shared_trees()
        for node in ast.walk(tree)
        if _asks_which_detector(node)
    ]
    assert len(found) <= _DISTINCTIONS, found


@pytest.mark.parametrize("text", [
    "isinstance(params, ScordParams)", "isinstance(x, (int, SigraceParams))",
    "{'scord': 1, 'sigrace': 2}", "name == 'noncoherent'",
])  # fmt: skip
def test_a_distinction_is_seen(text):
    assert [node for node in ast.walk(ast.parse(text)) if _asks_which_detector(node)]


@cache
def _asked(method: str) -> dict[tuple[str, str], set[str]]:
    """Rooms and parts that shared code asks a detector for, and the names that it takes of each."""
    found: dict[tuple[str, str], set[str]] = defaultdict(set)
    for _, tree in _shared_trees():
        for node in ast.walk(tree):
            call = node.value if isinstance(node, ast.Attribute) else node
            if (
                isinstance(call, ast.Call)
                and isinstance(call.func, ast.Attribute)
                and call.func.attr == method
                and all(isinstance(each, ast.Constant) for each in call.args)
                and call.args
                and isinstance(call.args[0].value, str)
            ):
                room, part = ([*(each.value for each in call.args), ""])[:2]
                found[room, part] |= {node.attr} if isinstance(node, ast.Attribute) else set()
    return found


def _may_lack(system: System, room: str, part: str) -> bool:
    """Whether shared code does without a part: it asks first, or asks detectors of a GPU alone."""
    optional = {key for key in _asked("has") if not system.has(*key)}
    # What a room without its optional first part has besides is of no use.
    return (room in {name for name, _ in optional} and not system.has(room, part)) or (
        room == "verdict" and system.trace is not Trace
    )


@pytest.mark.parametrize("system", SYSTEMS, ids=lambda system: system.name)
def test_a_detector_has_all_that_shared_code_asks_it_for(system):
    asked = _asked("own")
    assert len(asked) > 10
    for (room, part), names in asked.items():
        if not _may_lack(system, room, part):
            module = system.own(room, part)
            for name in names if system.has("fpga", "device") else names - _OF_BOARDS:
                assert hasattr(module, name), f"{module.__name__}.{name}"


def test_the_page_on_adding_a_detector_has_all_that_shared_code_asks_for():
    text = _rows("add-a-detector.md")
    for (room, part), names in _asked("own").items():
        for name in (room.replace(".", "/"), part, *(names - {"__path__"})):
            assert f"`{name}" in text or not name, (room, part, name)


#: How shared code names the detector that the page takes for its example.
_NAMED = re.compile(
    r"NoncoherentParams|\"noncoherent\"|NONCOHERENT(_PRESETS)?\b|cosim\.noncoherent"
)
_QUOTED = re.compile(r"`((?:\w+/)+\w+\.\w+)`")


def _rows(page: str) -> str:
    text = (REPOSITORY / "docs" / "how-to" / page).read_text(encoding="utf-8")
    return "\n".join(line for line in text.splitlines() if line.startswith("|"))


def test_the_page_on_adding_a_detector_has_every_shared_file():
    named = {
        str(path) for path in _sources()
        if path.parts[0] in {*_FOLDERS, "docs"} and "noncoherent" not in str(path)
        and "accelerator" not in str(path)
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


def test_what_the_campaign_leaves_out_has_a_target():
    text = (REPOSITORY / "Makefile").read_text(encoding="utf-8").replace("\\\n", " ")
    calls = re.findall(r'pytest .*-m (?:""|campaign) .*', text)
    [campaign] = [call for call in calls if " tests " in call]
    left_out = re.search(r'-k "not (.*)"', campaign)[1].split(" and not ")
    left_out += re.findall(r"--ignore (\S+)", campaign)
    calls.remove(campaign)
    assert [each for each in left_out if not re.search(each, "".join(calls))] == []
