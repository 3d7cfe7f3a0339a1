"""Subject of a check, a trace or the runs of a kernel, and outcome of a check."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from racetrap.commands.shared.front_door import has_main
from racetrap.commands.shared.terminal import input_errors, progress
from racetrap.golden_model.trace import AnyTrace, Trace, read_trace
from racetrap.presenters.findings import Findings
from racetrap.presenters.line_pairs import chain_text, exposure_text, number_text
from racetrap.verdict.gpu.schedules import ScheduleSearch
from racetrap.verdict.gpu.trace_check import TraceCheck
from racetrap.verdict.line_pairs import LinePair
from racetrap.verdict.source_text import relative_place

if TYPE_CHECKING:
    from racetrap.sim.gpu.cuda.nvcc_options import CompilerOptions
    from racetrap.sim.gpu.launch.capture import Capture
    from racetrap.sim.gpu.launch.launch_file import LaunchSpec
    from racetrap.sim.gpu.ptx.module import Module


#: Names of kernel files end so; what runs them is slow to import.
KERNELS = (".cu", ".ptx")


@dataclass
class Subject:
    """What is checked: a trace, or one for each schedule of a kernel.

    Parameters
    ----------
    first : AnyTrace
        The first trace.
    hangs : bool
        Whether a kernel did not end in it.
    search : ScheduleSearch, optional
        Which further schedules of a kernel are run.
    capture : callable, optional
        Runs a kernel in a schedule of a number.
    run : dict
        What JSON says of the runs of a kernel.
    expose : callable, optional
        Notes with each race of a check whether it is exposed by a weak memory: failures by what is
        no race, and a summary, in sentences.
    cure : callable, optional
        Looks for what cures the races of a check: what it has found, in sentences.
    """

    first: AnyTrace
    hangs: bool = False
    search: ScheduleSearch | None = None
    capture: Callable[[int], Capture] | None = None
    run: dict[str, Any] = field(default_factory=dict)
    expose: Callable[[TraceCheck], tuple[list[str], list[str]]] | None = None
    cure: Callable[[TraceCheck], list[str]] | None = None

    def further_traces(self, check: TraceCheck) -> Iterator[Trace]:
        """Traces of the further runs, each to be added to the check before the next is made."""
        check.hangs = self.hangs
        if self.search is not None and self.capture is not None:
            for number in self.search.further(check):
                captured = self.capture(number)
                check.hangs |= captured.hangs
                yield captured.trace


class Outcome(NamedTuple):
    """What a check has found.

    Parameters
    ----------
    findings : Findings
        Findings that are printed and reported.
    known : list of LinePair
        Races of the baseline.
    document : dict
        What JSON says.
    """

    findings: Findings
    known: list[LinePair]
    document: dict[str, Any]


def read_subject(
    path: str, launch_file: str | None, options: CompilerOptions | None, lockstep: bool,
    memory: str | None, runs: int, seconds: float, patch: str | None, cures: bool,
) -> Subject:  # fmt: skip
    """A trace, or a kernel with a launch file: the one given, or that of its name beside it."""
    beside = Path(path).with_suffix(".toml")
    if launch_file is None and Path(path).suffix in KERNELS:
        with input_errors():
            if not beside.is_file():
                if Path(path).is_file() and has_main(Path(path)):
                    raise ValueError(
                        f"{path} is a whole CUDA program, with `main`: check it by "
                        f"`racetrap run {path}`"
                    )
                raise ValueError(
                    f"{path}: Kernel must have a launch file, as --launch FILE or as {beside}"
                )
        launch_file = str(beside)
    if launch_file is not None:
        # The executor is slow to import.
        from racetrap.calls.checks.kernels import capture_kernel, read_kernel, run_to_dict

        module, launch = read_kernel(path, launch_file, options, lockstep)
        search = ScheduleSearch(launch.schedules, seconds=seconds)
        first = capture_kernel(module, launch)
        run = {"launch": launch_file, "run": run_to_dict(first)}
        expose = memory and partial(_expose, module, launch, memory, runs, Path(path).parent)
        further = partial(capture_kernel, module, launch)
        looks = patch is not None or (cures and path.endswith(".cu"))
        cure = partial(_cure, Path(path), launch, options, patch, search) if looks else None
        return Subject(first.trace, first.hangs, search, further, run, expose or None, cure)
    with input_errors():
        return Subject(read_trace(path))


def _cure(
    path: Path, launch: LaunchSpec, options: CompilerOptions | None, patch: str | None,
    search: ScheduleSearch, check: TraceCheck,
) -> list[str]:  # fmt: skip
    if patch is None and not check.pairs:
        return []
    from racetrap.calls.checks.cures import add_cures
    from racetrap.sim.gpu.cuda.nvcc_options import CompilerOptions
    from racetrap.verdict.gpu.cure.programs import kernel_sources

    sources = kernel_sources(path, launch, options or CompilerOptions())
    return add_cures(check, sources, search.seconds_left, patch)


def _expose(
    module: Module, launch: LaunchSpec, memory: str, runs: int, folder: Path, check: TraceCheck
) -> tuple[list[str], list[str]]:
    """Note with each race whether it is exposed: failures by what is no race of the runs checked,
    and a summary, in sentences."""
    from racetrap.sim.gpu.stress.kernel_subject import KernelSubject
    from racetrap.verdict.gpu.exposed_races import ExposureSearch, expose_races

    try:
        subject = KernelSubject(module, launch)
    except ValueError as error:
        return [], [f"Exposure not looked for: {error}"]
    pairs = [*check.pairs, *check.strong]
    search = ExposureSearch(memory, runs, launch.seed)
    weak_only = expose_races(
        pairs, subject, search, folder, lambda each: progress(each, "Exposing", len(each))
    )
    failures = [
        f"{relative_place(pair.first.later.place)}: {exposure_text(pair.exposure)}"
        for pair in check.strong
        if pair.exposure["failure"]
    ]
    for lines, exposure in weak_only.items():
        where = " and ".join(map(chain_text, sorted(lines)))
        failures.append(
            f"{where}: no race in sequentially consistent runs: {exposure_text(exposure)}"
        )
    exposed = sum(pair.exposure["failure"] is not None for pair in pairs)
    counted = f"{exposed} of {number_text(len(pairs), 'unordered pair')}"
    return failures, [f"Exposed by {memory}: {counted}, {len(weak_only)} only under weak memory."]
