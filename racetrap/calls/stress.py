"""Runs of a kernel or program under a weak memory model, until it fails."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING

from racetrap.calls.arguments import refusal
from racetrap.calls.checks.kernels import read_kernel
from racetrap.calls.checks.programs import executable, program_errors
from racetrap.calls.report import Report
from racetrap.calls.results import StressResult
from racetrap.commands.shared.terminal import InputError, input_errors, progress, write_file

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rich.console import Console

    from racetrap.sim.gpu.cuda.nvcc_options import CompilerOptions
    from racetrap.sim.gpu.stress.advice import Advice
    from racetrap.sim.gpu.stress.patch import Patch
    from racetrap.sim.gpu.stress.subject import Run, Subject

#: Subjects of a call: sources, and whole programs.
SOURCE, PROGRAM = "a CUDA source", "a program"
#: Runs for each question of the advice, if only time is bounded.
_RUNS = 100


def stress(
    kernel: str | Path, arguments: Sequence[str] = (), *, launch: str | Path | None = None,
    compiler: CompilerOptions | None = None, memory: str = "views", hold: float = 1.0,
    runs: int | None = 100, seconds: float | None = None, deviations: int | None = None,
    seed: int = 1, replay: str | Path | None = None, advise: bool = False,
    witness: str | Path | None = None, patch: str | Path | None = None,
    report: Report | None = None,
) -> StressResult:  # fmt: skip
    """Run a kernel or program under a weak memory model until it fails.

    Parameters
    ----------
    kernel : str or Path
        A kernel with a launch file, or a whole CUDA program as for ``run``.
    arguments : sequence of str
        Arguments of a program.
    launch : str or Path, optional
        The launch file of a kernel.
    compiler : CompilerOptions, optional
        How a source is compiled.
    memory : str
        The model: ``views``, PTX's, or ``write-buffers``, which delay stores.
    hold : float
        For ``write-buffers``: the probability that a store is delayed.
    runs, seconds : int, float, optional
        Number of runs, and the seconds after which no run begins.
    deviations : int, optional
        Search systematically, with at most this number of deviations from a sequentially
        consistent run.
    seed : int
        Seed for all random choices.
    replay : str or Path, optional
        A run to repeat: a file that ``witness`` has written.
    advise : bool
        Whether to name missing fences or, if nothing fails, redundant ones.
    witness : str or Path, optional
        File for the failing run.
    patch : str or Path, optional
        File for the advice as a patch.
    report : Report, optional
        Where findings are printed; by default the result has the text.

    Raises
    ------
    ValueError
        If the kernel or program cannot be compiled or run, or an argument is wrong.
    """
    from racetrap.presenters.stress import stress_to_dict, witness_lines
    from racetrap.sim.gpu.stress import search
    from racetrap.sim.gpu.stress.replay_file import read_replay, write_replay

    report = report or Report(suits=refusal(stress, locals()))
    with input_errors():
        _check(str(kernel), arguments, launch is not None, report)
    path, console = Path(kernel), report.console
    advice = made = failing_seed = None
    with _subject(path, arguments, launch, compiler) as subject, program_errors():
        if replay is not None:
            with input_errors():
                given = read_replay(str(replay), path.name)
            memory, how = given.memory, ""
            done = [search.replay(subject, memory, given.deviations)]
        else:
            searched = _search(subject, memory, hold, deviations, seed)
            done = list(_bounded(searched, runs, seconds))
            how = f", at most {deviations} deviations"
        failing, found = search.find_witness(subject, memory, done, shrinks=replay is None)
        if deviations is None and replay is None:
            failing_seed = next((seed + n for n, run in enumerate(done) if run in failing), None)
            how = _seeds_text(seed, len(done), failing_seed)
        console.print(f"Exposed: {len(failing)} of {len(done)} runs fail, memory {memory}{how}.")
        if found is not None:
            for line in witness_lines(found, path.parent):
                console.print(line, markup=False)
            if witness is not None:
                write_replay(str(witness), path.name, memory, found.deviations)
                console.print(f"Replay: {witness}", markup=False)
        if advise or patch is not None:
            advice, made = _advise(subject, memory, runs or _RUNS, seed, path.parent)
            _show_advice(console, advice, made, path.parent, None if patch is None else str(patch))
    document = {
        "kernel": str(kernel), "arguments": list(arguments),
        "launch": None if launch is None else str(launch), "memory": memory, "seed": seed,
        "failing_seed": failing_seed, **stress_to_dict(done, found, advice, made),
    }  # fmt: skip
    return StressResult(
        document=document, text=report.text, subject=str(kernel), runs=done, witness=found,
        advice=advice, patch=made.text if made else "",
    )  # fmt: skip


def _check(kernel: str, arguments: Sequence[str], has_launch: bool, report: Report) -> None:
    """Refuse options and arguments that are not for this subject."""
    is_source = kernel.endswith(".cu")
    built = "a kernel in PTX" if has_launch else "a program that is built"
    names = [SOURCE if is_source else built]
    report.suits(*names, *([PROGRAM] if is_source or not has_launch else []))
    if has_launch and arguments:
        raise ValueError("A kernel with a launch file must have no arguments of a program")


def _search(
    subject: Subject, memory: str, hold: float, deviations: int | None, seed: int
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


def _bounded(runs: Iterator[Run], count: int | None, seconds: float | None) -> Iterator[Run]:
    """Runs until the budget is spent, at least one."""
    begin = monotonic()
    chosen = runs if count is None else progress(islice(runs, count), "Running", count)
    for run in chosen:
        yield run
        if seconds is not None and monotonic() - begin > seconds:
            return


@contextmanager
def _subject(
    kernel: Path,
    arguments: Sequence[str],
    launch: str | Path | None,
    compiler: CompilerOptions | None,
) -> Iterator[Subject]:
    """The kernel with its launches, or the program."""
    if launch is None:
        from racetrap.sim.gpu.cuda.context import RunSettings
        from racetrap.sim.gpu.stress.program_subject import ProgramSubject

        with executable([kernel], compiler) as (path, options):
            with input_errors(), program_errors():
                subject = ProgramSubject(
                    [path, *arguments],
                    RunSettings(capability=options.capability, independent_threads=False),
                )
            yield subject
        return
    from racetrap.sim.gpu.executor.machine.errors import ExecutionError
    from racetrap.sim.gpu.stress.kernel_subject import KernelSubject

    module, spec = read_kernel(str(kernel), str(launch), compiler)
    with input_errors():
        try:
            found = KernelSubject(module, spec)
        except ExecutionError as error:
            raise InputError(str(error)) from error
    yield found


def _advise(
    subject: Subject, memory: str, runs: int, seed: int, folder: Path
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
