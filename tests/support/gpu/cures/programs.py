"""Programs of the suite of cures, as ``cases.toml`` lists them.

Programs are compiled and run together as one, since a compiler takes longer for eighty programs
than for all their kernels.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

from pydantic import model_validator

from racetrap.sim.gpu.cuda.context import RunSettings
from racetrap.sim.gpu.cuda.nvcc_options import CompilerOptions
from racetrap.sim.gpu.cuda.program_run import ProgramRun, run_program
from racetrap.sim.gpu.cuda.runtime_library import runtime_library
from racetrap.sim.gpu.cuda.toolkit import compile_program
from racetrap.sim.toml_file import Table, TomlFile, read_toml
from racetrap.verdict.line_pairs import LinePair

FOLDER = Path(__file__).parent
_MACRO = re.compile(r"^#define (\w+)", re.MULTILINE)
_SYSTEM_HEADER = re.compile(r"^#include <.*>", re.MULTILINE)


class Program(Table):
    """A program, and the edit by which it becomes race-free.

    Parameters
    ----------
    name, folder : str
        Its file, without suffix, and the folder.
    file : str
        File of the edit; empty for the program's own.
    text : str
        Text of the edited line, which stands once in its file; empty for a program that is right.
    insert, below : str, bool
        Line that is inserted before or behind that line.
    replace : str
        Text that takes its place instead.
    """

    name: str
    folder: str
    file: str = ""
    text: str = ""
    insert: str = ""
    below: bool = False
    replace: str = ""

    @property
    def source(self) -> Path:
        """Its file, below the folder of the suite."""
        return Path(self.folder, f"{self.name}.cu")

    @property
    def edited_file(self) -> Path:
        """File of the edit, below the folder of the suite."""
        return Path(self.folder, self.file) if self.file else self.source

    def edited(self) -> str:
        """Text of the edited file.

        Raises
        ------
        ValueError
            If the text of the edit does not stand once in it.
        """
        before = (FOLDER / self.edited_file).read_text(encoding="utf-8")
        if before.count(self.text) != 1:
            raise ValueError(f"{self.edited_file} must have {self.text!r} once")
        if self.replace:
            return before.replace(self.text, self.replace)
        place = before.index(self.text)
        begin = before.rindex("\n", 0, place) + 1
        if self.below:
            begin = before.index("\n", place) + 1
        return f"{before[:begin]}    {self.insert}\n{before[begin:]}"


class _Group(Table):
    title: str
    programs: list[Program]

    @model_validator(mode="before")
    @classmethod
    def _complete_programs(cls, data: Any) -> Any:
        """What stands in the group holds for its programs."""
        own = {key: value for key, value in data.items() if key not in cls.model_fields}
        return {"title": data["title"], "programs": [own | each for each in data["programs"]]}


class _Suite(TomlFile):
    groups: list[_Group]


#: Programs by what they lack.
PROGRAMS: Mapping[str, tuple[Program, ...]] = MappingProxyType({
    group.title: tuple(group.programs)
    for group in read_toml(FOLDER / "cases.toml", _Suite).groups
})  # fmt: skip


class SuiteRun(NamedTuple):
    """Run of several programs together.

    Parameters
    ----------
    run : ProgramRun
        The run; a file of a place is below ``folder``.
    folder : Path
        Folder of the sources.
    is_cured : bool
        Whether the programs were edited.
    wrong : set of str
        Programs whose own check of the result failed.
    """

    run: ProgramRun
    folder: Path
    is_cured: bool
    wrong: set[str]


def run_together(
    programs: Iterable[Program], folder: Path, *, is_cured: bool = False, **settings: Any
) -> SuiteRun:
    """Copy programs to a folder, compile them as one, and run that.

    Parameters
    ----------
    programs : iterable of Program
        The programs.
    folder : Path
        An empty folder.
    is_cured : bool
        Whether they have been edited.
    settings
        Further fields of ``RunSettings``.
    """
    programs = list(programs)
    for source in (*FOLDER.rglob("*.cu"), *FOLDER.rglob("*.cuh")):
        target = folder / source.relative_to(FOLDER)
        target.parent.mkdir(exist_ok=True)
        target.write_text(source.read_text(encoding="utf-8"), encoding="utf-8")
    for program in programs:
        if is_cured and program.text:
            (folder / program.edited_file).write_text(program.edited(), encoding="utf-8")
    source, target, printed = folder / "together.cu", folder / "together", folder / "printed"
    source.write_text(_together(programs, folder), encoding="utf-8")
    compile_program([source], target, runtime_library(), CompilerOptions())
    with printed.open("wb") as output:
        run = run_program([str(target)], RunSettings(output=output.fileno(), **settings))
    lines = printed.read_text(encoding="utf-8").splitlines()
    wrong = {line[7:] for line in lines if line.startswith("WRONG: ")}
    return SuiteRun(run, folder, is_cured, wrong)


def racy_programs(pairs: Iterable[LinePair], suite: SuiteRun) -> dict[str, list[LinePair]]:
    """Pairs of lines with a race, by the one program that includes the files of both."""
    every = [program for programs in PROGRAMS.values() for program in programs]

    def owners(place: str) -> set[str]:
        file = Path(place.rpartition(":")[0])
        assert suite.folder in file.parents, place

        def includes(program: Program) -> bool:
            source = suite.folder / program.source
            return file == source or f'"{file.name}"' in source.read_text(encoding="utf-8")

        return {program.name for program in every if includes(program)}

    found: dict[str, list[LinePair]] = {}
    for pair in pairs:
        places = [side.in_own_code.place for _, side in pair.first.sides]
        (owner,) = set.intersection(*map(owners, places))
        found.setdefault(owner, []).append(pair)
    return found


def _together(programs: Iterable[Program], folder: Path) -> str:
    """Source of one program that runs each of several."""
    headers: set[str] = set()
    parts, calls = [], []
    for program in programs:
        text = (folder / program.source).read_text(encoding="utf-8")
        headers |= set(_SYSTEM_HEADER.findall(text))
        name = f"{program.folder}_{program.name}"
        undefined = "".join(f"#undef {macro}\n" for macro in _MACRO.findall(text))
        parts.append(f'namespace {name} {{\n#include "{program.source}"\n}}\n{undefined}')
        calls.append(f'  if ({name}::program()) printf("WRONG: {program.name}\\n");\n')
    return "\n".join([
        *sorted(headers), "#define main program", *parts, "#undef main",
        "int main() {", *calls, "}\n",
    ])  # fmt: skip
