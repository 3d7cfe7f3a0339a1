"""cocotb test of a board's SigRace at its UART pins: recorded programs in, conflict records out.

Plan: ``programs``, a trace file for each name; ``environment``, how their threads are put on
contexts.  For each there is a note with what was compared.
"""

from __future__ import annotations

from typing import Any

import cocotb

from racetrap.fpga.host.client import HostLink
from racetrap.fpga.host.self_test import check_registers
from racetrap.fpga.host.session import Session
from racetrap.fpga.sigrace.run import run_program
from racetrap.golden_model.sigrace.environment import Environment
from racetrap.golden_model.sigrace.params import SigraceParams
from racetrap.golden_model.sigrace.sigrace import Sigrace
from racetrap.golden_model.trace.files import read_thread_trace
from tests.support.fpga.pins import Note, run_host


def _play(link: HostLink, plan: dict[str, Any], note: Note) -> set[str]:
    """Play all programs; gives the lights that must be on: the one for a requested rollback."""
    params, requests = SigraceParams(**plan["params"]), 0
    sigrace = Sigrace(params, Environment(plan["environment"]))
    session = Session(link, params, "the plan")
    check_registers(session, params)
    for name, file in plan["programs"].items():
        run = run_program(session, sigrace, read_thread_trace(file))
        requests += run.requests
        note({
            "run": name, "events": run.events, "messages": run.messages, "records": len(run.log),
            "traps": len(run.traps), "races": len(run.result.races),
        })  # fmt: skip
    return {"race seen"} if requests else set()


@cocotb.test()
async def play_programs_at_the_pins(dut: Any) -> None:
    await run_host(dut, _play)
