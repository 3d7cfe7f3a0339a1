"""Throughput of ScoRD and of what runs its traces: figures of `racetrap bench`, with tables."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict
from functools import partial
from typing import Any

from racetrap.evaluation.scord import cycles
from racetrap.evaluation.scord.workload import LinesWorkload, ScordWorkload
from racetrap.evaluation.table import Cell
from racetrap.evaluation.throughput import executor_loops, executor_rates, speed
from racetrap.evaluation.throughput.figures import SIZE, BenchTable
from racetrap.evaluation.throughput.rates import timed
from racetrap.generators.scord import SCORD
from racetrap.golden_model.barracuda import Barracuda, ScopedOracle
from racetrap.golden_model.events import USUAL_GEOMETRY
from racetrap.sim.gpu.executor.device import Device
from racetrap.sim.gpu.oracle import CompiledOracle, OracleRule
from racetrap.sim.gpu.workloads.registry import WORKLOADS

#: What co-simulation counts, and what it plays.
UNIT, WORKLOAD = "accesses", ScordWorkload
#: Whether ``measurements`` follow a latency of memory.
HAS_MEMORY = True
_SEED = 1

#: What is measured of an application, by its key in JSON, with its title.
_OF_APPLICATIONS = {
    "name": "application", "events": "events", "operations": "thread operations",
    "executor": "executor", "barracuda": "Barracuda", "scoped": "ScopedOracle",
    "causality": "CompiledOracle",
}  # fmt: skip


def measurements(given: int | None) -> Mapping[str, Callable[[], Any]]:
    """What measures each figure, by its key in JSON.

    Parameters
    ----------
    given : int or None
        Cycles after which memory answers; by default at once, and with a port at each L2 slice as
        far away as there.
    """
    latency, far = given or 1, given or cycles.SLICE_LATENCY
    return {
        "latency": lambda: given,
        "accesses_per_cycle": lambda: {
            "streaming": cycles.streaming(latency),
            "back_to_back": cycles.back_to_back(latency),
        },
        "bandwidth": lambda: [
            asdict(cycles.bandwidth(slots, each))
            for slots in cycles.OUTSTANDING
            for each in (cycles.LATENCIES if given is None else (given,))
        ],
        "banks": partial(_banks, latency),
        "fences": lambda: [
            asdict(cycles.fences(lanes, sms))
            for lanes in cycles.FENCE_LANES
            for sms in (lanes, SCORD.presets["scord"].params.sm_count)
        ],
        "saturated": _saturated,
        "widths": lambda: [
            asdict(row)
            for merged in (True, False)
            for words in cycles.WIDTHS
            for row in cycles.width(words, merged, latency)
        ],
        "slices": lambda: [asdict(row) for row in (cycles.one_slice(far), *cycles.slices(far))],
        "executor": executor_rates.rates,
        "executor_independent_threads": partial(executor_rates.rates, independent_threads=True),
        "executor_loops": executor_loops.loops,
        "applications": lambda: [application_rates(name, SIZE) for name in WORKLOADS],
    }


def _saturated() -> dict[str, dict[str, Any]]:
    kinds = {name: (name, SCORD.presets[name].params) for name in ("scord", "scord-wide")}
    kinds["scord-tiny, eight words"] = ("scord-tiny", cycles.wide())
    return {name: asdict(speed.rates(*kind, LinesWorkload)) for name, kind in kinds.items()}


def _banks(latency: int) -> dict[str, float]:
    one, four = (cycles.banks(preset, latency) for preset in ("scord", "scord-banks4"))
    return {"one": one, "four": four, "ratio": four / one}


def application_rates(name: str, size: str) -> dict[str, Any]:
    """Rates on the race-free build of an application.

    Returns
    -------
    dict
        Its ``name``, the ``events`` of its trace, thread-level ``operations`` that the oracles
        make of them, and events a second of the ``executor`` (host code included) and of the
        oracles ``barracuda``, ``scoped`` and, compiled, ``causality``.
    """
    device = Device(USUAL_GEOMETRY)
    executor, _ = timed(lambda: WORKLOADS[name].run(device, size, _SEED))
    trace = device.trace(name)
    barracuda, found = timed(lambda: Barracuda().run(trace))
    scoped, _ = timed(lambda: ScopedOracle().run(trace))
    judge = CompiledOracle(OracleRule.CAUSALITY)
    with judge.running():  # compiled by the first run
        causality, _ = timed(lambda: judge.run(trace))
    events = len(trace)
    return {
        "name": name, "events": events, "operations": found.counts.operations,
        "executor": events / executor, "barracuda": events / barracuda, "scoped": events / scoped,
        "causality": events / causality,
    }  # fmt: skip


def tables(figures: Mapping[str, Any]) -> Iterator[BenchTable]:
    """Tables of the figures."""
    cycle, banks, latency = figures["accesses_per_cycle"], figures["banks"], figures["latency"]
    answers = "at once" if latency is None else f"after {latency} cycles"
    yield "Throughput, scord", [f"metadata answers {answers}", "accesses a cycle"], [
        ["one bank, whole lines", cycle["streaming"]],
        ["one bank, one entry only", cycle["back_to_back"]],
        ["one bank, all SMs", banks["one"]],
        ["four banks, all SMs", banks["four"]],
        ["four banks against one", banks["ratio"]],
    ]  # fmt: skip
    yield (
        "Fences alone, one bank, scord",
        ["fence lanes", "SMs", "fences a cycle"],
        [[row["lanes"], row["sms"], row["fences_per_cycle"]] for row in figures["fences"]],
    )
    by_traffic: dict[str, list[Cell]] = {}
    for row in figures["widths"]:
        cells = by_traffic.setdefault(row["traffic"], [row["traffic"]])
        cells += [row["accesses_per_cycle"], 100 * row["reads_per_cycle"]]
    widths = list(dict.fromkeys(row["words"] for row in figures["widths"]))
    yield (
        "One metadata port, scord-tiny: accesses a cycle, and cycles with read data in percent",
        ["words a cycle", *(head for words in widths for head in (str(words), "%"))],
        list(by_traffic.values()),
    )
    yield (
        f"24 metadata ports of eight words, 15 SMs, latency {latency or cycles.SLICE_LATENCY}; "
        "the first row has one port",
        ["traffic", "accesses", "accesses a cycle", "% of each port's cycles with a read"],
        [
            [row["traffic"], row["accesses"], row["accesses_per_cycle"],
             100 * row["reads_per_cycle"]]
            for row in figures["slices"]
        ],
    )  # fmt: skip
    busy = {(row["outstanding"], row["latency"]): row["busy"] for row in figures["bandwidth"]}
    latencies = list(dict.fromkeys(latency for _, latency in busy))
    yield (
        "Cycles with metadata read data, in percent",
        ["in flight", *(f"latency {latency}" for latency in latencies)],
        [
            [slots, *(100 * busy[slots, latency] for latency in latencies)]
            for slots in dict.fromkeys(slots for slots, _ in busy)
        ],
    )
    yield (
        "Executor, full warps, recording",
        ["threads", "thread instructions/s", "with independent lanes"],
        [
            [threads, rate, figures["executor_independent_threads"][threads]]
            for threads, rate in figures["executor"].items()
        ],
    )
    yield (
        "Executor, loops that are compared with one another",
        ["loop", "seconds"],
        [[name, seconds] for name, seconds in figures["executor_loops"].items()],
    )
    yield (
        "Speed of simulation, whole lines of all SMs: accesses/s, medians",
        ["system", "hardware", "golden, plain Python", "together"],
        [
            [preset, *(rates[part]["median"] for part in ("hardware", "golden", "together"))]
            for preset, rates in figures["saturated"].items()
        ],
    )
    yield (
        f"Applications, size {SIZE}: trace events a second",
        list(_OF_APPLICATIONS.values()),
        [[row[name] for name in _OF_APPLICATIONS] for row in figures["applications"]],
    )
