"""Parts of the evaluation of some programs, for any number of processes.

Ref: SigRace (ISCA'09) Section 5.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from pathlib import Path
from typing import Any, TypeAlias

from racetrap.evaluation.sigrace.figures import Figures, make_figures
from racetrap.evaluation.sigrace.hardware import HardwareRun, run_hardware
from racetrap.evaluation.sigrace.pace import Pace, measure_pace
from racetrap.evaluation.sigrace.policies import PolicyFigures, compare_policies
from racetrap.evaluation.sigrace.races import (
    Existing,
    Injected,
    existing_races,
    injected_races,
)
from racetrap.golden_model.happens_before.happens_before import HappensBefore
from racetrap.golden_model.sigrace.params import SigraceParams
from racetrap.golden_model.trace.files import read_thread_trace
from racetrap.golden_model.trace.threads.thread_trace import ThreadTrace
from racetrap.sim.cosim.fast.build import FastModel
from racetrap.sim.cpu.program_traces import program_trace
from racetrap.sim.cpu.verdicts import ProgramVerdict, program_verdict

PartResult: TypeAlias = (
    Figures | Existing | Injected | dict[str, PolicyFigures] | ProgramVerdict | HardwareRun | Pace
    | None
)  # fmt: skip
#: Program, size and threads of a recording to be made, or a file that has one.
_Source: TypeAlias = "tuple[str, str, int] | Recording"


@dataclass(frozen=True)
class Recording:
    """A file with a recording of threads.

    Parameters
    ----------
    path : Path
        The file.
    contents : str
        Hash of what is in it: results kept for another file do not count.
    """

    path: Path
    contents: str


@dataclass(frozen=True)
class ProgramPart:
    """One part of the evaluation of a program; plain data, for a worker process.

    Parameters
    ----------
    part : str
        ``"figures"``, ``"existing"``, ``"policies"``, ``"injected"``, ``"verdict"``, ``"hardware"``
        or ``"pace"``.
    program, size : str
        The program, and the size of its run; it has a thread for each core.  The name and no size
        if it was recorded before.
    params : SigraceParams
        Configuration.
    seed : int
        Chooses the synchronisation that is taken out; seed of the simulated world.
    model : FastModel or None
        Hardware to run on.
    recording : Recording or None
        Its recording, if there is one already.
    runs : int
        Synchronisations that may be taken out, one after the other, until there is a race.
    """

    part: str
    program: str
    size: str
    params: SigraceParams
    seed: int = 0
    model: FastModel[SigraceParams] | None = None
    recording: Recording | None = None
    runs: int = 0


@dataclass(frozen=True)
class ProgramResult:
    """All results of a program.

    Parameters
    ----------
    program : str
        The program.
    figures : Figures
        Its part of the figures.
    existing : Existing
        Races as it was recorded.
    injected : tuple of Injected
        Runs without one of its synchronisations, by ascending seed; none if it has none.
    verdict : ProgramVerdict or None
        Verdicts of oracle and ThreadSanitizer; none of a recording alone.
    hardware : HardwareRun or None
        Result on the hardware, if it ran.
    pace : tuple of Pace
        Its cores at their own pace on hardware with some scanners each, if they ran.
    policies : mapping of str to PolicyFigures
        Its rollbacks with each policy.
    """

    program: str
    figures: Figures
    existing: Existing
    injected: tuple[Injected, ...]
    verdict: ProgramVerdict | None = None
    hardware: HardwareRun | None = None
    pace: tuple[Pace, ...] = ()
    policies: Mapping[str, PolicyFigures] = field(default_factory=dict)


def parts_of(
    programs: Sequence[str], size: str, params: SigraceParams, runs: int, seed: int,
    model: FastModel[SigraceParams] | None = None, hardware_size: str = "tiny",
    machines: Sequence[FastModel[SigraceParams]] = (),
) -> dict[str, list[ProgramPart]]:  # fmt: skip
    """Parts of some programs, by program, long ones first.

    Parameters
    ----------
    programs : sequence of str
        Programs.
    size : str
        Size of their runs.
    params : SigraceParams
        Configuration.
    runs : int
        Runs with an injected race.
    seed : int
        Seed of the first of them, and of the hardware's world.
    model : FastModel or None
        Hardware to run on, too.
    hardware_size : str
        Size of the runs on hardware.
    machines : sequence of FastModel
        Hardware to run on at the cores' own pace.
    """
    return {
        name: [
            *(ProgramPart(part, name, size, params) for part in ("existing", "figures")),
            ProgramPart("policies", name, size, params, seed, runs=runs),
            *([ProgramPart("hardware", name, hardware_size, params, seed, model)] if model else []),
            *(
                ProgramPart("pace", name, hardware_size, params, seed, machine)
                for machine in machines
            ),
            ProgramPart("verdict", name, size, params),
            *(ProgramPart("injected", name, size, params, seed + run) for run in range(runs)),
        ]
        for name in programs
    }


def parts_of_recording(
    name: str, recording: Recording, params: SigraceParams, runs: int, seed: int,
    model: FastModel[SigraceParams] | None = None,
) -> list[ProgramPart]:  # fmt: skip
    """Parts of a recording: those of a program but the verdict, for which it would run again.

    Parameters
    ----------
    name : str
        Its name.
    recording : Recording
        The file.
    params, runs, seed, model
        As of :func:`parts_of`.
    """
    (parts,) = parts_of([name], "", params, runs, seed, model, "").values()
    return [replace(part, recording=recording) for part in parts if part.part != "verdict"]


def run_part(part: ProgramPart) -> PartResult:
    """Make one part; everything about it follows from ``part`` and the recording.

    Raises
    ------
    RecordError, SanitizerError
        If the program cannot be recorded or sanitised.
    """
    return _PARTS[part.part](part)


def gather(
    parts: Mapping[str, Sequence[ProgramPart]], results: Mapping[str, Sequence[PartResult]]
) -> list[ProgramResult]:
    """Results by program, of those whose parts have all been made."""
    programs = []
    for name, made in results.items():
        mine: dict[str, Any] = {
            part.part: result
            for part, result in zip(parts[name], made, strict=True)
            if part.part not in ("injected", "pace")
        }
        injected = tuple(result for result in made if isinstance(result, Injected))
        pace = tuple(result for result in made if isinstance(result, Pace))
        programs.append(ProgramResult(name, injected=injected, pace=pace, **mine))
    return programs


# Parts of one program follow each other, so a process needs few programs at a time.
@lru_cache(2)
def _trace(source: _Source) -> ThreadTrace:
    return program_trace(*source) if isinstance(source, tuple) else read_thread_trace(source.path)


@lru_cache(2)
def _known(source: _Source) -> frozenset[tuple[int, int]]:
    """Static races of a program as it was recorded."""
    return HappensBefore(limit=0).run(_trace(source)).static


def _source(part: ProgramPart) -> _Source:
    return part.recording or (part.program, part.size, part.params.cores)


def _trace_of(part: ProgramPart) -> ThreadTrace:
    return _trace(_source(part))


def _injected(part: ProgramPart) -> Injected | None:
    return injected_races(_trace_of(part), _known(_source(part)), part.params, part.seed)


def _hardware(part: ProgramPart) -> HardwareRun | None:
    return None if part.model is None else run_hardware(part.model, _trace_of(part), part.seed)


def _pace(part: ProgramPart) -> Pace | None:
    return None if part.model is None else measure_pace(part.model, _trace_of(part), part.seed)


def _policies(part: ProgramPart) -> dict[str, PolicyFigures]:
    seeds = range(part.seed, part.seed + part.runs)
    return compare_policies(_trace_of(part), part.params, seeds)


_PARTS: dict[str, Callable[[ProgramPart], PartResult]] = {
    "figures": lambda part: make_figures(_trace_of(part), part.params),
    "existing": lambda part: existing_races(_trace_of(part), part.params),
    "policies": _policies,
    "injected": _injected,
    "verdict": lambda part: program_verdict(part.program, part.size, part.params.cores),
    "hardware": _hardware,
    "pace": _pace,
}
