"""`racetrap stress`: failures of a kernel or program by weak memory, shrunk, replayed and cured."""

from __future__ import annotations

from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING

import click

from racetrap.commands.shared.input_files import InputFile, NamedFiles
from racetrap.commands.shared.kernels import read_kernel
from racetrap.commands.shared.options import (
    compile_options,
    compiler_options,
    launch_option,
    memory_model_option,
    result_options,
    seed_option,
)
from racetrap.commands.shared.output_files import OutputFile
from racetrap.commands.shared.programs import executable, program_errors
from racetrap.commands.shared.terminal import (
    exit_on,
    fail,
    input_errors,
    progress,
    report_console,
    write_file,
    write_json,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    import numpy as np
    from rich.console import Console

    from racetrap.sim.gpu.cuda.toolkit import CompilerOptions
    from racetrap.sim.gpu.stress.advice import Advice
    from racetrap.sim.gpu.stress.patch import Patch
    from racetrap.sim.gpu.stress.subject import Run, Subject


@click.command("stress")
@click.argument("kernel", metavar="KERNEL|PROGRAM", type=NamedFiles())
@click.argument("arguments", metavar="[-- ARGUMENTS]", nargs=-1, type=click.UNPROCESSED)
@launch_option(required=False)
@compile_options
@click.option(
    "--expect", "expected", metavar="N=FILE", multiple=True, type=NamedFiles("="),
    help="Contents of argument N, or of the buffer of that name, after a right run: an array "
    "file (.npy).  What the launch file expects counts as well; if nothing is expected, right is "
    "what sequentially consistent runs give.",
)  # fmt: skip
@memory_model_option("Memory model", "views")
@click.option(
    "--hold", type=click.FloatRange(0, 1), default=1.0, show_default=True,
    help="write-buffers: probability that a store is held back.",
)  # fmt: skip
@click.option(
    "--runs", type=click.IntRange(min=1), default=100, show_default=True, help="Most runs."
)
@click.option("--seconds", type=click.FloatRange(min=0), help="Stop after so much time as well.")
@click.option(
    "--deviations", type=click.IntRange(min=0),
    help="Search systematically, with at most so many deviations from a sequentially consistent "
    "run, not at random.",
)  # fmt: skip
@seed_option
@click.option(
    "--replay", "replay_file", metavar="FILE", type=InputFile(),
    help="Repeat the run that --witness has written to FILE.",
)  # fmt: skip
@click.option(
    "--witness", "witness_file", metavar="FILE", type=OutputFile(),
    help="Write the shrunk failing run to FILE, for --replay.",
)  # fmt: skip
@click.option(
    "--advise", is_flag=True,
    help="Say which fences are missing; if nothing fails, which are redundant or too wide.",
)  # fmt: skip
@click.option(
    "--patch", "patch_file", metavar="FILE", type=OutputFile(to_standard_output=True),
    help="With --advise: write the advice as a unified diff of the source.",
)  # fmt: skip
@result_options
def command(
    kernel: str, arguments: tuple[str, ...], launch_file: str | None, include: tuple[str, ...],
    define: tuple[str, ...], arch: int, std: str | None, expected: tuple[str, ...], memory: str,
    hold: float, runs: int, seconds: float | None, deviations: int | None, seed: int,
    replay_file: str | None, witness_file: str | None, advise: bool, patch_file: str | None,
    json_file: str | None,
) -> None:  # fmt: skip
    """Run KERNEL or PROGRAM by a weak memory model until it fails.

    KERNEL is a .cu or .ptx file with a launch file.  Without one, PROGRAM is a whole CUDA program
    as of `racetrap run`: a .cu file or a program that was built with `-cudart shared`; it must end
    with exit status 0 and print what it prints on sequentially consistent memory.

    Says what went wrong in how many runs, and shrinks a failing run to the deviations
    from sequentially consistent memory that it takes.  Exit status: 0 nothing exposed, 1 a
    failure exposed, 2 bad input.
    """
    with input_errors():
        if patch_file is not None and not advise:
            raise ValueError("Option --patch must come with --advise")
        if launch_file is None and expected:
            raise ValueError("Option --expect must come with --launch")
        if launch_file is not None and arguments:
            raise ValueError("Arguments of a program must come without --launch")
    from racetrap.presenters.stress import stress_to_dict, witness_lines
    from racetrap.sim.gpu.stress.replay_file import read_replay, write_replay
    from racetrap.sim.gpu.stress.search import find_witness, replay

    options = compiler_options(include, define, arch, std)
    console, name, folder = report_console(), Path(kernel).name, Path(kernel).parent
    advice = patch = failing_seed = None
    with _subject(kernel, arguments, launch_file, options, expected) as subject, program_errors():
        if replay_file is not None:
            with input_errors():
                given = read_replay(replay_file, name)
            memory, how = given.memory, ""
            done = [replay(subject, memory, given.deviations)]
        else:
            searched = _search(subject, memory, hold, deviations, seed)
            done = list(_timed(progress(islice(searched, runs), "Running", runs), seconds))
            how = f", at most {deviations} deviations"
        failing, witness = find_witness(subject, memory, done, shrinks=replay_file is None)
        if deviations is None and replay_file is None:
            failing_seed = next((seed + n for n, run in enumerate(done) if run in failing), None)
            how = _seeds_text(seed, len(done), failing_seed)
        console.print(f"Exposed: {len(failing)} of {len(done)} runs fail, memory {memory}{how}.")
        if witness is not None:
            for line in witness_lines(witness, folder):
                console.print(line, markup=False)
            if witness_file is not None:
                write_replay(witness_file, name, memory, witness.deviations)
                console.print(f"Replay: {witness_file}", markup=False)
        if advise:
            advice, patch = _advise(subject, memory, runs, seed, folder)
            _show_advice(console, advice, patch, folder, patch_file)
    write_json(json_file, {
        "kernel": kernel, "arguments": list(arguments), "launch": launch_file, "memory": memory,
        "seed": seed,
        "failing_seed": failing_seed,
        **stress_to_dict(done, witness, advice, patch),
    })  # fmt: skip
    exit_on(failing)


def _search(
    subject: Subject, memory: str, hold: float, deviations: int | None, seed: int
) -> Iterator[Run]:
    """Runs without an end at random, or systematically."""
    from racetrap.sim.gpu.stress.search import random_runs
    from racetrap.sim.gpu.stress.systematic import bounded_runs

    if deviations is None:
        return random_runs(subject, memory, seed, hold)
    return bounded_runs(subject, memory, deviations)


def _seeds_text(seed: int, runs: int, failing_seed: int | None) -> str:
    """Seeds of random runs, for the end of a sentence."""
    text = f", seeds {seed} to {seed + runs - 1}"
    return text if failing_seed is None else f"{text}, the first of them seed {failing_seed}"


def _timed(runs: Iterable[Run], seconds: float | None) -> Iterator[Run]:
    """Runs until the time is over, one at least."""
    begin = monotonic()
    for run in runs:
        yield run
        if seconds is not None and monotonic() - begin > seconds:
            return


@contextmanager
def _subject(
    kernel: str, arguments: tuple[str, ...], launch_file: str | None, options: CompilerOptions,
    expected: tuple[str, ...],
) -> Iterator[Subject]:  # fmt: skip
    """The kernel with its launches, or the program; exit if it cannot be run."""
    if launch_file is None:
        from racetrap.sim.gpu.stress.program_subject import ProgramSubject

        with executable(kernel, options) as path:
            with input_errors(), program_errors():
                subject = ProgramSubject([path, *arguments], options.capability)
            yield subject
        return
    from racetrap.sim.gpu.executor.machine.errors import ExecutionError
    from racetrap.sim.gpu.stress.kernel_subject import KernelSubject

    with input_errors():
        wanted = dict(map(_expectation, expected))
    module, launch = read_kernel(kernel, launch_file, options)
    with input_errors():
        try:
            found = KernelSubject(module, launch, wanted)
        except ExecutionError as error:
            fail(error)
    yield found


def _expectation(text: str) -> tuple[int | str, np.ndarray]:
    from racetrap.sim.gpu.launch.launch_arguments import map_array

    name, equals, file = text.partition("=")
    if not name or not equals or not file:
        raise ValueError(f"Expectation must be N=FILE, not {text}")
    wanted = map_array(Path(file))
    if wanted is None:
        raise ValueError(f"Expectation must be an array file (.npy) that can be read, not {file}")
    return int(name) if name.isdecimal() else name, wanted


def _advise(
    subject: Subject, memory: str, runs: int, seed: int, folder: Path
) -> tuple[Advice, Patch]:
    """What is missing or too much, and as a patch of the source."""
    from racetrap.sim.gpu.stress.advice import Advisor
    from racetrap.sim.gpu.stress.patch import make_patch

    advice = Advisor(subject, memory, runs, runs, seed).advise()
    return advice, make_patch(advice.changes, folder, Path.cwd())


def _show_advice(
    console: Console, advice: Advice, patch: Patch, folder: Path, patch_file: str | None
) -> None:
    """Print the advice, and write its patch if it is asked for."""
    from racetrap.presenters.stress import advice_lines, patch_lines

    for line in advice_lines(advice, folder):
        console.print(line, markup=False)
    if patch_file is not None:
        write_file(patch_file, lambda: patch.text)
        for line in patch_lines(patch_file, patch):
            console.print(line, markup=False)
