"""Detection quality of the bus monitor: recorded programs against the detectors without limits.

Every program runs whole and with each of its omissions.  A race is an operation and a rule that it
breaks; a false report is one that the monitor gives, as possible, and that is not there.  Whatever
the configuration says of the memory system, a program's own counts; and a window begins where the
program's lowest cached write does, as its driver would place it.
"""

from __future__ import annotations

from dataclasses import asdict, replace
from functools import lru_cache

from racetrap.evaluation.noncoherent.monitor_quality import monitor_quality
from racetrap.evaluation.sweep.quality import Quality, Swept, counted
from racetrap.evaluation.sweep.spec import QualitySpec
from racetrap.golden_model.noncoherent.params import NoncoherentParams
from racetrap.golden_model.trace.noncoherent.noncoherent_trace import NoncoherentTrace
from racetrap.golden_model.trace.noncoherent.operations import OperationKind
from racetrap.sim.accelerator.programs.catalogue import ACCELERATOR_PROGRAMS
from racetrap.sim.accelerator.programs.traces import record_program

#: Addresses of programs that were recorded on the host.
_ADDRESS_BITS = 48


@lru_cache(maxsize=64)
def _traces(name: str) -> tuple[NoncoherentTrace, ...]:
    program = ACCELERATOR_PROGRAMS[name]
    omissions = [(), *((one,) for one in program.omissions)]
    return tuple(record_program(program, program.small, *some) for some in omissions)


def _lowest_write(trace: NoncoherentTrace) -> int:
    return min(one.address for one in trace if one.kind == OperationKind.CACHED_WRITE)


def noncoherent_quality(params: NoncoherentParams, spec: QualitySpec) -> Quality:
    """Counts over all cases of the programs of a specification.

    Raises
    ------
    RecordError
        If a program cannot be recorded.
    """
    total = Quality()
    for name in spec.workloads:
        for trace in _traces(name):
            own = replace(
                params, **asdict(trace.header.memory), address_bits=_ADDRESS_BITS, window_base=0
            )
            if own.window_bytes:
                own = replace(own, window_base=_lowest_write(trace) & -own.word_bytes)
            found = monitor_quality(own, list(trace), name)
            wrong = found.imprecise + len(found.falsely_definite)
            total += Quality(1, found.races, len(found.lost), wrong)
    return total


SWEPT = Swept(
    workloads=tuple(ACCELERATOR_PROGRAMS),
    sizes=("tiny",),
    figures=counted(noncoherent_quality),
    aliases={"queue_depth": "report_fifo_depth"},
    absent=("schedules", "seed", "region_log2"),
)
