"""cocotb test of a board's SigRace at its UART pins: recorded programs in, conflict records out.

Plan: ``programs``, a trace file for each name; ``environment``, how their threads are put on
contexts.  For each there is a note with what was compared.
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import cocotb
from cocotb.task import bridge

from racetrap.fpga.boards.pins import PinPort, check_lights, start
from racetrap.fpga.host.client import HostLink
from racetrap.fpga.host.program import run_program
from racetrap.fpga.host.session import Session
from racetrap.golden_model.link.frames import Counters, Kind
from racetrap.golden_model.sigrace.environment import Environment
from racetrap.golden_model.sigrace.params import SigraceParams
from racetrap.golden_model.sigrace.sigrace import Sigrace
from racetrap.golden_model.trace.files import read_thread_trace
from racetrap.sim.cocotb_run import NOTES, PLAN
from racetrap.sim.mismatch import Mismatch

__all__ = ["play_programs_at_the_pins"]

#: Seconds of real time that a reply may take: a simulation is slower than a board.
_TIMEOUT_S = 60.0


def _play(port: PinPort, plan: dict[str, Any], notes: Path) -> int:
    """Play all programs; gives the rollbacks that the device requested."""
    params, requests = SigraceParams(**plan["params"]), 0
    sigrace = Sigrace(params, Environment(plan["environment"]))
    link = HostLink(port, port.baud, _TIMEOUT_S)
    session = Session(link, params, "the plan")
    for name, file in plan["programs"].items():
        run = run_program(session, sigrace, read_thread_trace(file))
        requests += run.requests
        note = {
            "run": name, "events": run.events, "messages": run.messages, "records": len(run.log),
            "traps": len(run.traps), "races": len(run.result.races),
        }  # fmt: skip
        with notes.open("a", encoding="utf-8") as output:
            output.write(json.dumps(note) + "\n")
    counters = Counters.from_payload(link.request(Kind.COUNTERS))
    if any(counters[1:]) or link.counts.resends:
        raise Mismatch(f"A good line must lose nothing, not {counters}")
    return requests


@cocotb.test()
async def play_programs_at_the_pins(dut: Any) -> None:
    path = Path(os.environ[PLAN])
    plan = json.loads(path.read_text(encoding="utf-8"))
    await start(dut)
    port = PinPort(dut, plan["divisor"])
    requests = await bridge(_play)(port, plan, path.with_name(NOTES))
    check_lights(dut, is_race_seen=requests > 0)
