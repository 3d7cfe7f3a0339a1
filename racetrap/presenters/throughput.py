"""Figures of `racetrap bench`: text."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from rich.console import Console

from racetrap.evaluation.table import Cell
from racetrap.evaluation.throughput.figures import SIZE
from racetrap.evaluation.throughput.scord_cycles import SLICE_LATENCY
from racetrap.presenters.tables import print_table

__all__ = ["print_figures"]

_Rows = list[list[Cell]]


def print_figures(console: Console, system: str, figures: dict[str, Any]) -> None:
    """Print the tables of a detector; ``figures`` as ``measurements`` gives them."""
    tables = {"scord": _scord, "sigrace": _sigrace, "noncoherent": _noncoherent}[system](figures)
    simulation = _speed(system, figures["speed"]) if "speed" in figures else ()
    for title, columns, rows in (*tables, *simulation):
        print_table(console, title, columns, rows)


def _scord(figures: dict[str, Any]) -> Iterator[tuple[str, list[str], _Rows]]:
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
        f"24 metadata ports of eight words, 15 SMs, latency {latency or SLICE_LATENCY}; the first "
        "row has one port",
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
        ["threads", "thread instructions/s"],
        [[threads, rate] for threads, rate in figures["executor"].items()],
    )
    yield (
        "Speed of simulation, whole lines of all SMs: accesses/s, medians",
        ["system", "hardware", "golden, plain Python", "together"],
        [
            [preset, *(rates[part]["median"] for part in ("hardware", "golden", "together"))]
            for preset, rates in figures["saturated"].items()
        ],
    )
    names = ["name", "events", "operations", "executor", "barracuda", "scoped"]
    yield (
        f"Applications, size {SIZE}: trace events a second",
        ["application", "events", "thread operations", "executor", "Barracuda", "ScopedOracle"],
        [[row[name] for name in names] for row in figures["applications"]],
    )


def _sigrace(figures: dict[str, Any]) -> Iterator[tuple[str, list[str], _Rows]]:
    scan = figures["worst_scan"]
    yield (
        "Longest scan of a message, sigrace",
        ["message", "comparisons", "cycles"],
        [["full queues, no predecessor", scan["comparisons"], scan["cycles"]]],
    )
    yield (
        "All cores at an access a cycle, no block ordered with another, sigrace",
        ["instructions of a block", "messages", "comparisons a message", "cycles a message",
         "core stalls", "link stalls"],
        [list(row.values()) for row in figures["sustained"]],
    )  # fmt: skip
    names = ("recorded", "merged", "checked", "sigrace")
    yield (
        "Recording, exact check and SigRace: million events a second; bytes an event",
        ["program", "events", "recorded", "merged", "exact check", "SigRace", "times as long",
         "its conflicts", "memory"],
        [
            [row["name"], row["events"], *(row[name]["median"] / 1e6 for name in names),
             round(row["sigrace_ratio"], 1), row["conflicts"], row["bytes_per_event"]]
            for row in figures["recorder"]
        ],
    )  # fmt: skip
    yield (
        "The same programs under ThreadSanitizer, and from their start to the exact verdict",
        ["program", "seconds, ThreadSanitizer", "seconds, exact verdict", "times as long"],
        [
            [row["name"], round(row["sanitizer_seconds"], 3),
             round(row["sanitizer_seconds"] * row["slowdown"], 2), round(row["slowdown"], 1)]
            for row in figures["recorder"]
        ],
    )  # fmt: skip
    yield (
        f"Programs with threads, size {SIZE}: trace events a second",
        ["program", "events", "oracle", "SigRace, golden model"],
        [list(row.values()) for row in figures["programs"]],
    )


def _noncoherent(figures: dict[str, Any]) -> Iterator[tuple[str, list[str], _Rows]]:
    yield (
        "From a trace's file to the verdict, noncoherent: seconds of CPU time",
        ["operations", "mode", "buffers", "most runs", "read", "check"],
        [list(row.values()) for row in figures["analysis"]],
    )
    yield (
        "Recorder, noncoherent",
        ["accesses", "accesses/s", "slowest run", "fastest run"],
        [[name, *rate.values()] for name, rate in figures["recorder"].items()],
    )


def _speed(system: str, figures: dict[str, Any]) -> Iterator[tuple[str, list[str], _Rows]]:
    unit = {"scord": "accesses", "sigrace": "events"}[system]
    plain, compiled = figures["plain"], figures["compiled"] or {}
    rates = {
        "hardware": plain["hardware"],
        "golden, plain Python": plain["golden"],
        "golden, compiled": compiled.get("golden"),
        "together, plain Python": plain["together"],
        "together, compiled": compiled.get("together"),
    }
    yield (
        f"Speed of simulation, {system}",
        ["what", f"{unit}/s", "slowest run", "fastest run"],
        [[name, *rate.values()] for name, rate in rates.items() if rate],
    )
    same = figures["same_trace"]
    rows = {"cocotb": same["cocotb"], "fast co-simulation": same["fast"]}
    yield (
        f"One trace, everything compared, {system}",
        ["what", f"{unit}/s", "against cocotb"],
        [[name, rate, rate / same["cocotb"]] for name, rate in rows.items()],
    )
