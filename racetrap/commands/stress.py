"""`racetrap stress`: failures of a kernel or program, exposed, shrunk, replayed and cured."""

from __future__ import annotations

from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING, Any

import click

from racetrap.calls.checks.kernels import read_kernel
from racetrap.calls.checks.programs import executable, program_errors
from racetrap.commands.shared import options
from racetrap.commands.shared.input_files import InputFile, NamedFiles
from racetrap.commands.shared.result_forms import Form, form_files
from racetrap.commands.shared.subjects import Subject, SubjectCommand, require_suitable
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
    from collections.abc import Iterator

    from rich.console import Console

    from racetrap.sim.gpu.cuda.toolkit import CompilerOptions
    from racetrap.sim.gpu.stress.advice import Advice
    from racetrap.sim.gpu.stress.patch import Patch
    from racetrap.sim.gpu.stress.subject import Run
    from racetrap.sim.gpu.stress.subject import Subject as StressSubject


#: Runs for each question of the advice, if only time is bounded.
_RUNS = 100
_SOURCE = Subject("a CUDA source", ("include", "define", "std"))
_PROGRAM = Subject("a program", ("arch",))


class _Model(click.ParamType):
    """Memory model, and the probability that it holds back a store."""

    name = "model"

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> tuple[str, float]:
        if isinstance(value, tuple):
            return value
        name, colon, hold = value.partition(":")
        memory: str = options.Choice(options.MEMORY_MODELS)(name, param, ctx)
        if colon and name != "write-buffers":
            self.fail(f"Memory {name} holds back no store: leave out :{hold}", param, ctx)
        return memory, click.FloatRange(0, 1)(hold, param, ctx) if colon else 1.0


@click.command("stress", cls=SubjectCommand, subjects=(_SOURCE, _PROGRAM))
@click.argument("kernel", metavar="KERNEL|PROGRAM", type=NamedFiles())
@click.argument("arguments", metavar="[-- ARGUMENTS]", nargs=-1, type=click.UNPROCESSED)
@options.launch(required=False)
@options.compiler
@click.option(
    "--memory", "model", metavar="MODEL", type=_Model(), default="views", show_default=True,
    help="Memory model: views (PTX's), or write-buffers (the Bugaroo paper's), which delay each "
    "store, or with write-buffers:P each with probability P.",
)  # fmt: skip
@click.option(
    "--budget", metavar="N|Ts", type=options.BudgetType(), default="100", show_default=True,
    help="Stop after N runs, T seconds as in 30s, or whichever comes first, as in 100,30s.",
)  # fmt: skip
@click.option(
    "--deviations", type=click.IntRange(min=0),
    help="Search systematically, not at random, with at most N deviations from a sequentially "
    "consistent run.",
)  # fmt: skip
@options.seed
@click.option(
    "--replay", "replay_file", metavar="FILE", type=InputFile(),
    help="Replay the run that --output FILE.replay wrote.",
)  # fmt: skip
@click.option(
    "--advise", is_flag=True,
    help="Say which fences are missing; if nothing fails, which are redundant or too wide.",
)  # fmt: skip
@form_files(
    Form(".replay", "the shrunk failing run, for --replay", to_standard_output=False),
    Form(".patch", "the advice of --advise as a unified diff of the source"),
)
@options.result
def command(
    kernel: str, arguments: tuple[str, ...], launch_file: str | None, compiler: CompilerOptions,
    model: tuple[str, float], budget: options.Budget, deviations: int | None, seed: int,
    replay_file: str | None, advise: bool, output: dict[str, str], json_file: str | None,
) -> None:  # fmt: skip
    """Run KERNEL or PROGRAM under a weak memory model until it fails.

    KERNEL is a .cu or .ptx file with a launch file.  Without one, PROGRAM is a whole CUDA program
    as for `racetrap run`: a .cu file or a program built with `-cudart shared`.  It fails if its
    exit status is not 0 or its output differs from that on sequentially consistent memory.

    Reports each failure and how many runs had it, and shrinks a failing run to the deviations from
    sequentially consistent memory that cause it.  Exit status: 0 no failure, 1 failures, 2 bad
    input.
    """
    with input_errors():
        what = "a program that is built" if launch_file is None else "a kernel in PTX"
        require_suitable(
            *([_SOURCE.name] if kernel.endswith(".cu") else [what]),
            *([_PROGRAM.name] if launch_file is None or kernel.endswith(".cu") else []),
        )
        if launch_file is not None and arguments:
            raise ValueError("Arguments of a program must come without --launch")
    from racetrap.presenters.stress import stress_to_dict, witness_lines
    from racetrap.sim.gpu.stress.replay_file import read_replay, write_replay
    from racetrap.sim.gpu.stress.search import find_witness, replay

    memory, hold = model
    console, name, folder = report_console(), Path(kernel).name, Path(kernel).parent
    advice = patch = failing_seed = None
    with _subject(kernel, arguments, launch_file, compiler) as subject, program_errors():
        if replay_file is not None:
            with input_errors():
                given = read_replay(replay_file, name)
            memory, how = given.memory, ""
            done = [replay(subject, memory, given.deviations)]
        else:
            searched = _search(subject, memory, hold, deviations, seed)
            done = list(_bounded(searched, budget))
            how = f", at most {deviations} deviations"
        failing, witness = find_witness(subject, memory, done, shrinks=replay_file is None)
        if deviations is None and replay_file is None:
            failing_seed = next((seed + n for n, run in enumerate(done) if run in failing), None)
            how = _seeds_text(seed, len(done), failing_seed)
        console.print(f"Exposed: {len(failing)} of {len(done)} runs fail, memory {memory}{how}.")
        if witness is not None:
            for line in witness_lines(witness, folder):
                console.print(line, markup=False)
            if (witness_file := output.get(".replay")) is not None:
                write_replay(witness_file, name, memory, witness.deviations)
                console.print(f"Replay: {witness_file}", markup=False)
        patch_file = output.get(".patch")
        if advise or patch_file is not None:
            advice, patch = _advise(subject, memory, budget.count or _RUNS, seed, folder)
            _show_advice(console, advice, patch, folder, patch_file)
    write_json(json_file, {
        "kernel": kernel, "arguments": list(arguments), "launch": launch_file, "memory": memory,
        "seed": seed,
        "failing_seed": failing_seed,
        **stress_to_dict(done, witness, advice, patch),
    })  # fmt: skip
    exit_on(failing)


def _search(
    subject: StressSubject, memory: str, hold: float, deviations: int | None, seed: int
) -> Iterator[Run]:
    """Runs: random ones without end, or systematic ones."""
    from racetrap.sim.gpu.stress.search import random_runs
    from racetrap.sim.gpu.stress.systematic import bounded_runs

    if deviations is None:
        return random_runs(subject, memory, seed, hold)
    return bounded_runs(subject, memory, deviations)


def _seeds_text(seed: int, runs: int, failing_seed: int | None) -> str:
    """Seeds of random runs, for the end of a sentence."""
    text = f", seeds {seed} to {seed + runs - 1}"
    return text if failing_seed is None else f"{text}, the first of them seed {failing_seed}"


def _bounded(runs: Iterator[Run], budget: options.Budget) -> Iterator[Run]:
    """Runs until the budget is spent, at least one."""
    begin, count = monotonic(), budget.count
    chosen = runs if count is None else progress(islice(runs, count), "Running", count)
    for run in chosen:
        yield run
        if budget.seconds is not None and monotonic() - begin > budget.seconds:
            return


@contextmanager
def _subject(
    kernel: str, arguments: tuple[str, ...], launch_file: str | None, compiler: CompilerOptions
) -> Iterator[StressSubject]:
    """The kernel with its launches, or the program; exit if it cannot be run."""
    if launch_file is None:
        from racetrap.sim.gpu.cuda.context import RunSettings
        from racetrap.sim.gpu.stress.program_subject import ProgramSubject

        with executable([Path(kernel)], compiler) as (path, _):
            with input_errors(), program_errors():
                subject = ProgramSubject(
                    [path, *arguments],
                    RunSettings(capability=compiler.capability, independent_threads=False),
                )
            yield subject
        return
    from racetrap.sim.gpu.executor.machine.errors import ExecutionError
    from racetrap.sim.gpu.stress.kernel_subject import KernelSubject

    module, launch = read_kernel(kernel, launch_file, compiler)
    with input_errors():
        try:
            found = KernelSubject(module, launch)
        except ExecutionError as error:
            fail(error)
    yield found


def _advise(
    subject: StressSubject, memory: str, runs: int, seed: int, folder: Path
) -> tuple[Advice, Patch]:
    """Missing and redundant fences, also as a patch of the source."""
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
