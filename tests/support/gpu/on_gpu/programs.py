"""Whole programs by ``racetrap run``, on the executor and on a GPU: ours, those of others, and the
drivers over CCCL's headers."""

from __future__ import annotations

import re
import shutil
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from racetrap.api import run
from racetrap.sim.gpu.cuda.nvcc_options import CompilerOptions
from racetrap.sim.gpu.cuda.runtime_library import runtime_library
from racetrap.sim.gpu.cuda.toolkit import ToolkitError, compile_program
from tests.cccl_drivers import macros, source_of
from tests.cuda_verdicts import PROGRAMS
from tests.foreign_programs import DRIVERS, FOREIGN_PROGRAMS
from tests.support.gpu.cccl.results import RACY, RESULTS, is_right

#: Seconds for the schedules of a program, and for all its runs on one side.
_SECONDS = 20.0
_RACY_FORM = {"free": (), "racy": ("-DRACY",)}


class Form(NamedTuple):
    """A form of a program.

    Parameters
    ----------
    sources : sequence of Path
        Its sources.
    words : sequence of str
        Options of nvcc.
    is_right : callable
        Whether what it printed is right.
    """

    sources: Sequence[Path]
    words: Sequence[str] = ()
    is_right: Callable[[str], bool] = lambda text: True


def form_of(name: str, packages: Path) -> Form:
    """A form by its name, ``PART/PROGRAM`` and perhaps ``/FORM``, with the folder of packages."""
    part, program, *kinds = name.split("/")
    words = [word for kind in kinds for word in _RACY_FORM[kind]]
    if part == "programs":
        return Form([PROGRAMS[program]], words)
    if part == "drivers":
        words += [f"-D{macro}" for macro in macros(program)]
        return Form([source_of(program)], words, lambda text: is_right(program, text))
    foreign = FOREIGN_PROGRAMS[program]
    folder = packages / foreign.package.name
    own = [DRIVERS / f"{program}.cu"] * foreign.has_driver
    includes = [f"-I{folder / each}" for each in foreign.package.includes]
    return Form(
        [*own, *(folder / source for source in foreign.sources)],
        [*includes, *foreign.package.options], lambda text: foreign.wanted in text,
    )  # fmt: skip


def form_names() -> list[str]:
    """Names of all forms, those of others first."""
    return [
        *(f"foreign/{name}" for name in FOREIGN_PROGRAMS),
        *(f"programs/{name}/{kind}" for name in PROGRAMS for kind in _RACY_FORM),
        *(f"drivers/{name}/{kind}" for name in RESULTS for kind in _RACY_FORM
          if kind == "free" or name in RACY),
    ]  # fmt: skip


def fetch_packages(folder: Path) -> None:
    """Bring what the programs of others need of their packages into a folder."""
    for package in dict.fromkeys(each.package for each in FOREIGN_PROGRAMS.values()):
        programs = [each for each in FOREIGN_PROGRAMS.values() if each.package == package]
        with tempfile.TemporaryDirectory(prefix="racetrap-") as name:
            package.fetch(Path(name))
            for each in package.includes:
                shutil.copytree(Path(name, each), folder / package.name / each, dirs_exist_ok=True)
            for each in (source for program in programs for source in program.sources):
                target = folder / package.name / each
                target.parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(Path(name, each), target)


def form_row(name: str, packages: Path, has_gpu: bool) -> dict[str, Any]:
    """What ``racetrap run`` finds in a form of a program, ``ours`` on the executor and ``gpu`` on a
    GPU, and what the program printed, if that is not the same; or why it does not compile."""
    form, begin = form_of(name, packages), time.monotonic()
    with tempfile.TemporaryDirectory(prefix="racetrap-") as folder:
        target = Path(folder) / form.sources[0].stem
        try:
            options = CompilerOptions(tuple(form.words))
            compile_program(form.sources, target, runtime_library(), options)
        except ToolkitError as error:
            return {"refused": str(error).partition("\n")[0]}
        compiling = time.monotonic() - begin
        found = {
            side: _found(target, form, compiling, side == "gpu")
            for side in ("ours", "gpu")[: 1 + has_gpu]
        }
    texts = {side: each.pop("printed") for side, each in found.items()}
    if len({*texts.values()}) > 1:
        found["printed"] = {side: text[:300] for side, text in texts.items()}
    return found


def _found(target: Path, form: Form, compiling: float, on_gpu: bool) -> dict[str, Any]:
    """What is found on one side: pairs of lines, runs, exit status, why something was not done, and
    whether the result is right; or why the program was not run."""
    begin = time.monotonic()
    try:
        result = run(target, on_gpu=on_gpu, cures=False, seconds=_SECONDS)
    except ValueError as error:
        return {"refused": str(error), "printed": ""}
    document = result.to_dict()
    lines = {
        tuple(sorted(Path(pair[side]["place"]).name for side in ("earlier", "later")))
        for finding in document["findings"] for pair in finding["pairs"]
    }  # fmt: skip
    # The place has the folder in which a header is installed.
    not_done = [
        re.sub(r" \(/\S+\)$", "", each) for each in (*document["faults"], *document["problems"])
    ]
    found = {
        "lines": sorted(lines), "runs": document["schedules"],
        "status": 1 if result.has_findings else 3 if result.status or result.problems else 0,
        "right": not result.status and form.is_right(result.output),
        "seconds": round(compiling + time.monotonic() - begin, 1), "printed": result.output,
    }  # fmt: skip
    return found | ({"not_done": not_done} if not_done else {})
