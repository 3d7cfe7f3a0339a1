"""Check of a trace, or of runs of a kernel, for races."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from racetrap.calls.arguments import refusal
from racetrap.calls.checks.accelerators import check_accelerators
from racetrap.calls.checks.gpu import check_gpu
from racetrap.calls.checks.subject import KERNELS, read_subject
from racetrap.calls.checks.threads import check_exact, check_threads
from racetrap.calls.report import Report
from racetrap.calls.results import CheckResult
from racetrap.commands.shared.input_files import given_name
from racetrap.commands.shared.reports import known_races
from racetrap.commands.shared.terminal import input_errors
from racetrap.golden_model.trace import NoncoherentTrace, ThreadTrace, Trace
from racetrap.verdict.gpu.schedules import SECONDS

if TYPE_CHECKING:
    from racetrap.sim.gpu.cuda.nvcc_options import CompilerOptions

#: Kernels, those in CUDA, and an exact check in a sentence.
KERNEL, SOURCE = "a kernel", "a kernel in CUDA"
EXACT = "an exact check of threads"
#: Runs for each race under weak memory, unless told otherwise.
RUNS = 100


def check(
    path: str | Path, *, launch: str | Path | None = None, compiler: CompilerOptions | None = None,
    lockstep: bool = False, detector: str | None = None, settings: Sequence[str] = (),
    rule: str | None = "causality", compare: bool = False, memory: str | None = None,
    runs: int = RUNS, seconds: float = SECONDS, exact: bool = False, fail_fast: bool = False,
    suppressed: str | Path | None = None, baseline: str | Path | None = None,
    patch: str | Path | None = None, cures: bool = True, report: Report | None = None,
) -> CheckResult:  # fmt: skip
    """Check a trace file, or runs of a kernel, for races.

    Parameters
    ----------
    path : str or Path
        A trace, or a kernel: a .cu or .ptx file with a launch file.
    launch : str or Path, optional
        The launch file; by default the .toml file of the kernel's name beside it.
    compiler : CompilerOptions, optional
        How a CUDA kernel is compiled.
    lockstep : bool
        Whether the lanes of a warp run together, as before Volta.
    detector : str, optional
        Preset of the detector that checks with.
    settings : sequence of str
        Changed parameters, as ``name=value``.
    rule : str or None
        Rule of the exact analysis that judges runs of a GPU; without one the detector judges.
    compare : bool
        Whether to list also the races that an exact analysis finds in the same run.
    memory : str, optional
        Weak memory model under which to expose each race of a kernel.
    runs : int
        With ``memory``: runs for each race.
    seconds : float
        Seconds within which further schedules of a kernel are to end, and after which no further
        edit is tried.
    exact, fail_fast : bool
        For threads: whether an exact analysis checks them, and whether it stops at the first race.
    suppressed : str or Path, optional
        File of races that an exact analysis of threads leaves out.
    baseline : str or Path, optional
        File of known races.
    patch : str or Path, optional
        File for a patch that ends the races of a CUDA kernel.
    cures : bool
        Whether to search for the edit that ends each race of a CUDA kernel even without a patch.
    report : Report, optional
        Where findings are printed; by default the result has the text.

    Raises
    ------
    ValueError
        If a file cannot be read or run, or an argument is wrong.
    """
    report, path = report or Report(suits=refusal(check, locals())), str(path)
    with input_errors():
        if launch is not None or Path(path).suffix in KERNELS:
            report.suits(SOURCE if path.endswith(".cu") else "a kernel in PTX", KERNEL)
        if patch is not None and not path.endswith(".cu"):
            raise ValueError(f"Patch must be of a kernel in CUDA: check FILE.cu, not {path}")
    subject = read_subject(
        path, None if launch is None else str(launch), compiler, lockstep, memory, runs, seconds,
        None if patch is None else str(patch), cures and rule is not None,
    )  # fmt: skip
    trace = subject.first
    is_exact = isinstance(trace, ThreadTrace) and (exact or fail_fast or suppressed is not None)
    with input_errors():
        if not subject.run:
            report.suits(EXACT if is_exact else trace.kind)
        if not len(trace):
            raise ValueError(f"{path}: Trace must have events to be checked, not only a header")
    known, console, choice = known_races(baseline), report.console, report.choice
    if is_exact:
        outcome = check_exact(console, choice, trace, known, suppressed, fail_fast)
    elif isinstance(trace, Trace):
        outcome = check_gpu(console, choice, subject, path, detector, settings, rule, known)
    elif isinstance(trace, NoncoherentTrace):
        outcome = check_accelerators(
            console, trace, path, settings, compare, choice.shows_notes, known
        )
    else:
        assert isinstance(trace, ThreadTrace)
        outcome = check_threads(console, choice, trace, path, detector, settings, compare, known)
    name = given_name(path)
    return CheckResult(
        document={"trace": name, "events": len(trace), **outcome.document, **subject.run},
        text=report.text, subject=name, findings=outcome.findings, known=outcome.known,
    )  # fmt: skip
