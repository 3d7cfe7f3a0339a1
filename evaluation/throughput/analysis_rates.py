"""Rates of analyses in software on traces of whole programs, in CPU time.

Ref: BARRACUDA (PLDI'17) Section 6.2 (what an analysis costs); SigRace (ISCA'09) Section 5.1.
"""

from __future__ import annotations

from typing import Any

from racetrap.evaluation.scord.programs import GEOMETRY
from racetrap.evaluation.throughput.rates import timed
from racetrap.golden_model.barracuda import Barracuda, ScopedOracle
from racetrap.golden_model.happens_before.happens_before import HappensBefore
from racetrap.golden_model.sigrace.params import SigraceParams
from racetrap.golden_model.sigrace.sigrace import Sigrace
from racetrap.sim.cpu.program_traces import program_trace
from racetrap.sim.gpu.executor.device import Device
from racetrap.sim.gpu.workloads.registry import WORKLOADS

__all__ = ["application_rates", "program_rates"]

_SEED = 1


def application_rates(name: str, size: str) -> dict[str, Any]:
    """Rates on the race-free build of an application.

    Returns
    -------
    dict
        Its ``name``, the ``events`` of its trace, thread-level ``operations`` that the oracles
        make of them, and events a second of the ``executor`` (host code included) and of the
        oracles ``barracuda`` and ``scoped``.
    """
    device = Device(GEOMETRY)
    executor, _ = timed(lambda: WORKLOADS[name].run(device, size, _SEED))
    trace = device.trace(name)
    barracuda, found = timed(lambda: Barracuda().run(trace))
    scoped, _ = timed(lambda: ScopedOracle().run(trace))
    events = len(trace)
    return {
        "name": name, "events": events, "operations": found.counts.operations,
        "executor": events / executor, "barracuda": events / barracuda, "scoped": events / scoped,
    }  # fmt: skip


def program_rates(name: str, size: str) -> dict[str, Any]:
    """Rates on a program with threads.

    Returns
    -------
    dict
        Its ``name``, the ``events`` of its trace, and events a second of the oracle (``exact``)
        and of the golden model of the whole machine (``sigrace``).

    Raises
    ------
    RecordError
        If the program cannot be recorded.
    """
    params = SigraceParams()
    trace = program_trace(name, size, params.threads)
    exact, _ = timed(lambda: HappensBefore().run(trace))
    sigrace, _ = timed(lambda: Sigrace(params).run(trace))
    events = len(trace)
    return {"name": name, "events": events, "exact": events / exact, "sigrace": events / sigrace}
