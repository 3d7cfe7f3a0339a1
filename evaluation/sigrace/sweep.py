"""Detection quality of SigRace: recorded programs against the oracle.

Every program has a thread for each core.  It runs as it was recorded, and without one of its
synchronisations.  A race is a pair of instructions of the oracle; races with an
atomic access are left out, since SigRace does not collect those.  A false report is a conflict
that was analysed and had no race behind it.

Ref: SigRace (ISCA'09) Sections 5.2 and 5.4.1, Fig. 7, Table 7.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from functools import lru_cache
from typing import Any, NamedTuple

from racetrap.evaluation.sigrace.measured import measured_run
from racetrap.evaluation.sweep.quality import Quality, Swept
from racetrap.evaluation.sweep.spec import QualitySpec
from racetrap.golden_model.happens_before.happens_before import HappensBefore
from racetrap.golden_model.happens_before.race import ThreadRace
from racetrap.golden_model.sigrace.params import SigraceParams
from racetrap.golden_model.sigrace.sigrace import Sigrace
from racetrap.golden_model.trace.threads.thread_trace import ThreadTrace
from racetrap.sim.cpu.injection import inject
from racetrap.sim.cpu.program_traces import program_trace
from racetrap.sim.cpu.programs.catalogue import PROGRAMS, SIZES
from racetrap.sim.cpu.sigrace.compiled_sigrace import run_sigrace
from racetrap.sim.failure import DoesNotFit, Failure

#: Runs that a process keeps from point to point.
_KEPT_RUNS = 64


class RecordingDiffers(Failure):
    """A worker's recording of a program is not the one that the sweep is about."""


class _Run(NamedTuple):
    """A program and its races."""

    trace: ThreadTrace
    races: tuple[ThreadRace, ...]


@lru_cache(_KEPT_RUNS)
def recording_digest(program: str, size: str, threads: int) -> str:
    """Hash of a recording: two recordings of a program need not be equal.

    Raises
    ------
    RecordError
        If the program cannot be recorded.
    """
    trace = program_trace(program, size, threads)
    return hashlib.sha256(trace.events.tobytes()).hexdigest()


def sigrace_figures(
    params: SigraceParams, spec: QualitySpec, recordings: Mapping[str, str]
) -> dict[str, Any]:
    """Detection quality of the golden model on the programs, and the false-positive rate of Fig. 7.

    Parameters
    ----------
    params : SigraceParams
        Configuration.
    spec : QualitySpec
        Programs, and how many runs without a synchronisation.
    recordings : mapping of str to str
        ``recording_digest`` of each program.

    Raises
    ------
    DoesNotFit
        If a program does not fit the configuration.
    RecordingDiffers
        If a recording of this machine is a different one.
    """
    units = params.cores * params.contexts
    if params.threads < params.cores:
        raise DoesNotFit(
            f"Parameter threads must be at least {params.cores}, one for each core, "
            f"not {params.threads} ({units} contexts)"
        )
    total, intersections, false = Quality(), 0, 0
    for program in spec.workloads:
        _check_recording(program, spec.size, params.cores, recordings[program])
        for number in range(spec.schedules + 1):
            seed = spec.seed + number - 1 if number else None
            run = _run(program, spec.size, params.cores, seed)
            if run is None:
                break  # nothing that could be taken out
            total += _compared(run, params)
            if seed is None:
                rate = measured_run(Sigrace(params), run.trace).false_positives
                intersections += rate.intersections
                false += rate.false_intersections
    rate_of_all = false / intersections if intersections else 0.0
    return total.figures() | {"false_positive_rate": round(rate_of_all, 6)}


def _check_recording(program: str, size: str, threads: int, digest: str) -> None:
    if recording_digest(program, size, threads) != digest:
        raise RecordingDiffers(
            f"Recording of {program} differs from the client's: set RACETRAP_CACHE "
            "to one folder on all machines"
        )


@lru_cache(_KEPT_RUNS)
def _run(program: str, size: str, threads: int, seed: int | None) -> _Run | None:
    trace: ThreadTrace = program_trace(program, size, threads)
    if seed is not None:
        injection = inject(trace, seed)
        if injection is None:
            return None
        trace = injection.trace
    exact = HappensBefore().run(trace)
    races = tuple(race for race in exact.races if race not in exact.involves_atomic)
    return _Run(trace, races)


def _compared(run: _Run, params: SigraceParams) -> Quality:
    try:
        found = run_sigrace(Sigrace(params), run.trace)
    except ValueError as error:
        raise DoesNotFit(str(error)) from None
    there = {race.static_key for race in run.races}
    reported = {race.static_key for race in found.races}
    return Quality(1, len(there), len(there - reported), found.false_positives)


def _recordings(params: SigraceParams, spec: QualitySpec) -> dict[str, str]:
    """Programs are recorded here, once, so that all points are about the same runs."""
    return {name: recording_digest(name, spec.size, params.cores) for name in spec.workloads}


SWEPT = Swept(
    workloads=tuple(PROGRAMS),
    sizes=SIZES,
    figures=sigrace_figures,
    aliases={"k": "filters", "n": "filter_bits", "queue_depth": "history_depth"},
    absent=("region_log2",),
    recordings=_recordings,
)
