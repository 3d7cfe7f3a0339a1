"""cocotb test of a board's device at its UART pins: micro-benchmarks in, race reports out.

Plan: ``benchmarks``, names of the micro-benchmarks; ``core``, whether the device has no more
than a tracker and a bank.  For each there is a note with its verdict.  Then comes an overload: a
host that pulls no reports, so that some are dropped, and counted.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import groupby
from pathlib import Path
from typing import Any

import cocotb

from racetrap.fpga.boards.pin_device import CoreAtPins, DeviceAtPins, PinHost, SystemAtPins
from racetrap.fpga.boards.pins import CLOCK_NS, start
from racetrap.generators.register_map import RegisterMap
from racetrap.golden_model.events import Event
from racetrap.golden_model.link.configuration import configuration_hash
from racetrap.golden_model.link.frames import PROTOCOL_VERSION, Counters, Hello, Kind, Status
from racetrap.golden_model.scord.packets import Transaction
from racetrap.golden_model.scord.params import ScordParams
from racetrap.golden_model.scord.report import RaceReport
from racetrap.golden_model.scord.scord import Scord
from racetrap.sim.cocotb_run import NOTES, PLAN
from racetrap.sim.gpu.knobs import KNOBS
from racetrap.sim.gpu.random_events import random_events, transactions_of
from racetrap.sim.mismatch import Mismatch
from racetrap.sim.scord.suite import SuiteRun, suite_runs

__all__ = ["play_at_the_pins"]

_OVERLOAD_SEED, _OVERLOAD_EVENTS = 1, 100


def _grouped(
    events: Iterable[Event], params: ScordParams
) -> Iterator[tuple[int, list[Transaction]]]:
    """Transactions in the global order: an SM's together as far as no other's lie between."""
    for sm, items in groupby(transactions_of(events, params), key=lambda item: item[0]):
        yield sm, [transaction for _, transaction in items]


def _golden(device: DeviceAtPins, events: Iterable[Event], params: ScordParams) -> Scord:
    golden = Scord(params, device.region)
    for event in events:
        golden.run(event)
    return golden


async def _play(device: DeviceAtPins, run: SuiteRun, params: ScordParams) -> dict[str, Any]:
    """One micro-benchmark; gives the note on it."""
    events = list(run.events())
    await device.launch()
    records: list[int] = []
    for sm, transactions in _grouped(events, params):
        records += await device.feed(sm, transactions)
    records += await device.finish()
    golden = _golden(device, events, params)
    expected = device.numbered(golden.races)
    if records != expected:
        raise Mismatch(f"Records of {run.benchmark.name} must be {expected}, not {records}")
    for name in device.counters:
        due, counted = golden.counters.get(name.lower(), 0), await device.read(name)
        if counted != due:
            raise Mismatch(f"{name} of {run.benchmark.name} must be {due}, not {counted}")
    is_right = run.benchmark.is_right([RaceReport.from_record(record) for record in records])
    return {"run": run.benchmark.name, "is_right": is_right, "reports": len(records)}


async def _overload(device: DeviceAtPins, params: ScordParams) -> None:
    """Every report is pulled, in order, or counted as dropped."""
    knobs = KNOBS["atomics"]
    events = list(random_events(params, device.region, knobs, _OVERLOAD_SEED, _OVERLOAD_EVENTS))
    await device.launch()
    for sm, transactions in _grouped(events, params):
        await device.push(sm, transactions)
    seen = [_unnumbered(RaceReport.from_record(record)) for record in await device.finish()]
    due = [_unnumbered(race) for race in _golden(device, events, params).races]
    rest = iter(due)
    if not all(record in rest for record in seen):
        raise Mismatch(f"Reports of an overload must be among {due} in order, not {seen}")
    dropped = await device.read("REPORTS_DROPPED")
    if not 0 < dropped == len(due) - len(seen):
        raise Mismatch(f"Reports dropped must be {len(due)} - {len(seen)}, and some, not {dropped}")


def _unnumbered(race: RaceReport) -> int:
    return replace(race, sequence=0).record()


def _runs(params: ScordParams, names: list[str]) -> Iterator[SuiteRun]:
    """One run of each micro-benchmark; placements over several SMs where there is one."""
    runs = {run.benchmark.name: run for run in suite_runs(params, 0, 1)}
    return (runs[name] for name in names)


async def _check_line(dut: Any, host: PinHost, *, has_races: bool) -> None:
    """Nothing was lost on the line, and the lights say so."""
    counters = Counters.from_payload(bytes([Status.OK]) + await host.ask(Kind.COUNTERS))
    if any(counters[1:]):
        raise Mismatch(f"A good line must lose nothing, not {counters}")
    lights = int(dut.o_leds.value)
    if lights & 0b1001 != 0b0001 or bool(lights & 0b0100) != has_races:
        raise Mismatch(f"Lights must say link up, races {has_races}, no error, not {lights:#06b}")


@cocotb.test()
async def play_at_the_pins(dut):
    path = Path(os.environ[PLAN])
    plan = json.loads(path.read_text(encoding="utf-8"))
    params = ScordParams(**plan["params"])
    await start(dut)
    host = PinHost(dut, baud=1_000_000_000 // (CLOCK_NS * plan["divisor"]))
    hello = Hello.from_payload(
        bytes([Status.OK]) + await host.ask(Kind.HELLO, bytes([PROTOCOL_VERSION]))
    )
    if hello.configuration != configuration_hash(params):
        raise Mismatch(f"Device must have the configuration of the plan, not {hello}")
    kind = CoreAtPins if plan["core"] else SystemAtPins
    device = kind(host, params, RegisterMap(plan["registers"]))
    reports = 0
    for run in _runs(params, plan["benchmarks"]):
        note = await _play(device, run, params)
        reports += note["reports"]
        with path.with_name(NOTES).open("a", encoding="utf-8") as file:
            file.write(json.dumps(note) + "\n")
    await _check_line(dut, host, has_races=reports > 0)
    await _overload(device, params)
    if plan["core"] and not int(dut.o_leds.value) & 0b1000:
        raise Mismatch("Lights must say that a core dropped reports")
