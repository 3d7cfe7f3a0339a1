"""`racetrap run`: a whole CUDA program, its kernels on the executor, every launch checked."""

from __future__ import annotations

import os
import re
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import click
from rich.console import Console

from racetrap.commands.shared.options import (
    compile_options,
    compiler_options,
    result_options,
    seed_option,
    writable,
)
from racetrap.commands.shared.terminal import (
    ExitStatus,
    fail,
    input_errors,
    report_console,
    write_json,
)

if TYPE_CHECKING:
    from racetrap.sim.gpu.cuda.toolkit import CompilerOptions

__all__ = ["command"]


def _launches(text: str | None) -> range | None:
    if text is None:
        return None
    match = re.fullmatch(r"(\d+):(\d+)", text)
    if match is None or int(match[1]) >= int(match[2]):
        raise ValueError(f"Launches must be A:B with A below B, not {text}")
    return range(int(match[1]), int(match[2]))


@contextmanager
def _executable(program: str, options: CompilerOptions) -> Iterator[str]:
    """The program, compiled into a folder of its own if it is a source."""
    with tempfile.TemporaryDirectory(prefix="racetrap-") as folder:
        with input_errors():
            path = _compiled(Path(program), Path(folder), options)
        yield str(path.absolute())


def _compiled(program: Path, folder: Path, options: CompilerOptions) -> Path:
    from racetrap.sim.gpu.cuda.runtime_library import runtime_library
    from racetrap.sim.gpu.cuda.toolkit import PROGRAM_SUFFIX, CompilerOptions, compile_program

    if not program.is_file():
        raise ValueError(f"Program must be a file, not {program}")
    if program.suffix != PROGRAM_SUFFIX:
        if options != CompilerOptions(capability=options.capability):
            raise ValueError(
                f"Options of the compiler must come with a {PROGRAM_SUFFIX} file, not {program}"
            )
        return program
    target = folder / program.stem
    with Console(stderr=True).status(f"Compiling {program}"):
        compile_program(program, target, runtime_library(), options)
    return target


@click.command("run")
@click.argument("program", metavar="PROGRAM")
@click.argument("arguments", metavar="[-- ARGUMENTS]", nargs=-1, type=click.UNPROCESSED)
@compile_options
@click.option("--kernel", default="", metavar="NAME", help="Check launches of this kernel only.")
@click.option(
    "--launches", metavar="A:B", help="Check launches A to B-1 only; launches count from 0."
)
@click.option(
    "--schedules", type=click.IntRange(min=1), default=1, show_default=True,
    help="Runs: the first with warps in turn, others with warps at random.",
)  # fmt: skip
@seed_option
@click.option(
    "--trace", "trace_file", metavar="FILE", callback=writable,
    help="Also write the trace of the first run.",
)  # fmt: skip
@click.option(
    "--limit", metavar="N", type=click.IntRange(min=0), default=20, show_default=True,
    help="Print N pairs of lines at most.",
)  # fmt: skip
@click.option("--all", "shows_all", is_flag=True, help="Print all pairs of lines.")
@click.option(
    "--baseline", "baseline_file", metavar="FILE", help="Leave the known races of FILE out."
)
@click.option(
    "--write-baseline", "new_baseline", metavar="FILE", callback=writable,
    help="Write a new FILE in which all races found are known.",
)  # fmt: skip
@click.option(
    "--sarif", "sarif_file", metavar="FILE", callback=writable,
    help="Write the races as SARIF to FILE.",
)  # fmt: skip
@click.option(
    "--junit", "junit_file", metavar="FILE", callback=writable,
    help="Write the verdicts as JUnit to FILE.",
)  # fmt: skip
@click.option("--github", is_flag=True, help="Also print the races as annotations for GitHub.")
@result_options
def command(
    program: str, arguments: tuple[str, ...], include: tuple[str, ...], define: tuple[str, ...],
    arch: int, std: str | None, kernel: str, launches: str | None, schedules: int,
    seed: int, trace_file: str | None, limit: int, shows_all: bool, baseline_file: str | None,
    new_baseline: str | None, sarif_file: str | None, junit_file: str | None, github: bool,
    json_file: str | None,
) -> None:  # fmt: skip
    """Run PROGRAM, a CUDA program, without a GPU, and check all its launches for races.

    PROGRAM is a .cu file, which is compiled, or a program that was built with `-cudart shared`;
    both need the extra `cuda`.  Host code runs natively and kernels on the executor; what they
    do is checked by the exact oracle.  Exit status: 0 no race, 1 races or a fault of a kernel,
    2 bad input, 3 the program failed in another way.
    """
    from racetrap.evaluation.junit import write_junit
    from racetrap.evaluation.scord.baseline import Baseline, read_baseline, write_baseline
    from racetrap.evaluation.scord.program_check import ProgramCheck
    from racetrap.presenters.program_findings import (
        check_to_dict,
        print_annotations,
        print_check,
        problems_by_case,
    )
    from racetrap.presenters.program_sarif import program_sarif
    from racetrap.sim.gpu.cuda.context import RunSettings
    from racetrap.sim.gpu.cuda.program_run import run_program

    with input_errors():
        selected = _launches(launches)
        baseline = read_baseline(Path(baseline_file)) if baseline_file else Baseline()
        if new_baseline is not None and Path(new_baseline).exists():
            raise ValueError(f"Baseline must be a new file, not {new_baseline}")
    check = ProgramCheck(baseline)
    with _executable(program, compiler_options(include, define, arch, std)) as path:
        for number in range(schedules):
            with _run_errors(), _output(number, json_file) as descriptor:
                settings = RunSettings(
                    scheduler="random" if number else "round-robin", seed=seed + number,
                    kernel=kernel, launches=selected, capability=arch, output=descriptor,
                )  # fmt: skip
                run = run_program([path, *arguments], settings)
            check.add(run)
    with input_errors():
        check.require_selected(kernel, launches)
        if trace_file is not None:
            check.runs[0].trace.write_binary(trace_file)
        if new_baseline is not None:
            write_baseline(Path(new_baseline), [*check.pairs, *check.known])
        if junit_file is not None:
            write_junit(Path(junit_file), f"racetrap.{Path(program).name}", problems_by_case(check))
    console = report_console(json_file)
    print_check(console, check, None if shows_all else limit)
    if github:
        print_annotations(console, check)
    write_json(sarif_file, program_sarif(check.pairs))
    write_json(json_file, {
        "program": program, "arguments": list(arguments), "schedules": schedules, "seed": seed,
        **check_to_dict(check),
    })  # fmt: skip
    if check.has_findings:
        sys.exit(ExitStatus.RACES)
    sys.exit(ExitStatus.FAILED if check.status or check.problems else ExitStatus.NO_RACE)


@contextmanager
def _run_errors() -> Iterator[None]:
    """Turn what keeps a program from running into one sentence."""
    from racetrap.sim.gpu.cuda.program_run import ProgramError
    from racetrap.sim.gpu.cuda.toolkit import ToolkitError

    try:
        yield
    except (ProgramError, ToolkitError) as error:
        fail(error)


@contextmanager
def _output(number: int, json_file: str | None) -> Iterator[int]:
    """Descriptor for what run ``number`` prints: only that of the first is shown."""
    if number:
        with open(os.devnull, "wb") as nowhere:
            yield nowhere.fileno()
    else:
        yield 2 if json_file == "-" else 1
