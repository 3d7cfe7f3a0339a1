"""Verdict on a CUDA program: traces of its runs, faults, and its exit status."""

from __future__ import annotations

from racetrap.golden_model.checks import unknown_name
from racetrap.sim.gpu.cuda.launch_requests import LaunchRecord
from racetrap.sim.gpu.cuda.program_run import ProgramRun
from racetrap.sim.gpu.oracle import RunningJudge
from racetrap.sim.gpu.ptx.kernel_names import written_name
from racetrap.verdict.gpu.trace_check import Again, TraceCheck


class ProgramCheck:
    """Runs of a program, one for each schedule, and their findings.

    Parameters
    ----------
    traces : TraceCheck
        Check of their traces.

    Attributes
    ----------
    runs : list of ProgramRun
        The runs.
    """

    def __init__(self, traces: TraceCheck) -> None:
        self.traces = traces
        self.runs: list[ProgramRun] = []

    def add(self, run: ProgramRun, again: Again | None = None) -> None:
        """Check one more run, which can be made again if it was judged while it went on."""
        judgement = run.judge.end() if isinstance(run.judge, RunningJudge) else None
        self.traces.add(run.trace, judgement=judgement, again=again)
        self.traces.hangs |= any(launch.hangs for launch in run.launches)
        self.runs.append(run)

    def require_selected(self, kernel: str, launches: range | None) -> None:
        """Raise ``ValueError`` if a choice of launches has left none to check."""
        if (kernel or launches) and not any(launch.traced for launch in self.launches):
            names = list(dict.fromkeys(written_name(each.kernel) for each in self.launches))
            if kernel and kernel not in names:
                raise ValueError(unknown_name("kernel", kernel, names))
            where = f"in {launches.start}:{launches.stop} " if launches else ""
            what = f"of {kernel} " if kernel else ""
            raise ValueError(
                f"Program has no launch {what}{where}among its {len(self.launches)} "
                f"({', '.join(names) or 'none'})"
            )

    @property
    def faults(self) -> list[str]:
        """Faults that ended kernels, each sentence once."""
        unjudged = (
            launch.fault for run in self.runs for launch in run.launches
            if launch.fault and not launch.traced
        )  # fmt: skip
        return list(dict.fromkeys([*self.traces.faults, *unjudged]))

    @property
    def problems(self) -> list[str]:
        """Requests of the program that failed, each sentence once."""
        return list(dict.fromkeys(problem for run in self.runs for problem in run.problems))

    @property
    def status(self) -> int:
        """Exit status of the first run that failed; 0 if none did."""
        return next((run.status for run in self.runs if run.status), 0)

    @property
    def has_findings(self) -> bool:
        """Whether anything is wrong with its kernels."""
        return bool(self.traces.has_findings or self.faults or self.traces.outside)

    @property
    def launches(self) -> tuple[LaunchRecord, ...]:
        """Launches of the first run."""
        return self.runs[0].launches
