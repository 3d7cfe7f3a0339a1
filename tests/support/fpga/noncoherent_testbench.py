"""cocotb tests of a board's bus monitor at its UART pins: operations in, race reports out.

Plan: ``traces``, a trace file for each name.  For each there is a note with the amounts compared.
Then comes an overload: a host that pulls no reports, so that some are dropped and counted.
"""

from __future__ import annotations

from typing import Any

import cocotb

from racetrap.fpga.host.client import HostLink
from racetrap.fpga.host.self_test import check_registers
from racetrap.fpga.host.session import Session
from racetrap.fpga.noncoherent.run import run_operations
from racetrap.golden_model.noncoherent.params import NoncoherentParams
from racetrap.golden_model.trace.files import read_accelerator_trace
from racetrap.golden_model.trace.noncoherent.operations import Operation, OperationKind
from racetrap.sim.cosim.comparison.mismatch import Mismatch
from tests.support.fpga.pins import Note, run_host

#: Reads of data not written back, each giving a report: more than all queues hold.
_OVERLOAD = 100


def _session(link: HostLink, plan: dict[str, Any]) -> tuple[NoncoherentParams, Session]:
    params = NoncoherentParams(**plan["params"])
    return params, Session(link, params, "the plan")


def _play(link: HostLink, plan: dict[str, Any], note: Note) -> set[str]:
    """Play all traces; return the lights that must be on."""
    params, session = _session(link, plan)
    check_registers(session, params)
    reports = 0
    for name, file in plan["traces"].items():
        run = run_operations(session, params, read_accelerator_trace(file))
        reports += run.reports
        note({
            "run": name, "operations": run.operations, "rows": len(run.steps),
            "reports": run.reports, "dropped": run.counters["reports_dropped"],
        })  # fmt: skip
    return {"race seen"} if reports else set()


def _overload(link: HostLink, plan: dict[str, Any], note: Note) -> set[str]:
    """Check that every report is pulled, in order, or counted as dropped; return the lights
    expected."""
    params, session = _session(link, plan)
    operations = [
        Operation(OperationKind.CACHED_WRITE, 0, 1),
        *(Operation(OperationKind.UNCACHED_READ, 0, 1) for _ in range(_OVERLOAD)),
    ]
    run = run_operations(session, params, operations, pull_every=2 * _OVERLOAD)
    if not run.counters["reports_dropped"]:
        raise Mismatch("Reports dropped in an overload must be some, not 0")
    note({"overload": run.operations, "dropped": run.counters["reports_dropped"]})
    return {"race seen"}


@cocotb.test()
async def play_traces_at_the_pins(dut: Any) -> None:
    await run_host(dut, _play)


@cocotb.test()
async def overload_the_pins(dut: Any) -> None:
    await run_host(dut, _overload)
