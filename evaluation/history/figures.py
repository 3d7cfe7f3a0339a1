"""Figures in the JSON of the commands that measure: name, unit and value of each."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from typing import Any, TypeAlias

from racetrap.evaluation.sigrace.figures import CHOSEN
from racetrap.verdict.scord.missed import Cause

__all__ = ["MEASURING", "OUTCOME", "figures_of"]

#: Begins the end of the name of a figure that counts races by what a detector made of them.
OUTCOME = "races of the oracle, "

_Json: TypeAlias = Mapping[str, Any]
_Figures: TypeAlias = Iterator[tuple[str, str, float]]
#: Cells that are look-up tables and nothing else.
_TABLES = ("LUT4", "SB_LUT4")
#: Bytes that ``evaluate scord`` monitors at least, if nothing else is asked for.
_REGION = 1 << 20


def _cost(found: _Json) -> _Figures:
    for table in found["tables"]:
        for block in table["blocks"]:
            for target, cost in block["costs"].items():
                name = f"{block['block']} of {table['preset']} on {target}"
                if synthesis := cost["synthesis"]:
                    tables = sum(synthesis["cells"].get(cell, 0) for cell in _TABLES)
                    yield f"{name}: look-up tables", "LUT", tables
                    if synthesis["lut"] != tables:
                        whole = f"{name}: the same with carry chains and LUT RAM"
                        yield whole, "LUT", synthesis["lut"]
                    yield f"{name}: flip-flops", "FF", synthesis["ff"]
                if fmax := cost["fmax_mhz"]:
                    yield f"{name}: median Fmax", "MHz", fmax["median"]


def _bench(found: _Json) -> _Figures:
    for system, unit in (("scord", "accesses/s"), ("sigrace", "events/s")):
        if speed := found.get(system, {}).get("speed"):
            for golden in ("plain", "compiled"):
                if rates := speed[golden]:
                    name = f"co-simulation of {system}, {golden} golden model"
                    yield name, unit, rates["together"]["median"]
            for way, rate in speed["same_trace"].items():
                yield f"{system}: the same trace by {way} co-simulation", unit, rate
    if scord := found.get("scord"):
        far = "" if (latency := scord["latency"]) is None else f", latency {latency}"
        for name, rate in scord["accesses_per_cycle"].items():
            yield f"one bank of scord, {name.replace('_', ' ')}{far}", "accesses/cycle", rate
        yield f"four banks of scord{far}", "accesses/cycle", scord["banks"]["four"]
        for preset, rates in scord["saturated"].items():
            for part in ("hardware", "together"):
                name = f"co-simulation of {preset}, whole lines, {part}"
                yield name, "accesses/s", rates[part]["median"]
        for row in scord["fences"]:
            name = f"bank of scord, fence lanes {row['lanes']}, SMs {row['sms']}"
            yield name, "fences/cycle", row["fences_per_cycle"]
        for row in scord["widths"]:
            name = f"metadata port of scord-tiny, words a cycle {row['words']}, {row['traffic']}"
            name += far
            yield name, "accesses/cycle", row["accesses_per_cycle"]
        threads = max(scord["executor"], key=int)
        yield f"executor, {threads} threads", "instructions/s", scord["executor"][threads]
    if sigrace := found.get("sigrace"):
        scan = sigrace["worst_scan"]
        rate = scan["comparisons"] / scan["cycles"]
        yield "RDM of sigrace, longest scan", "comparisons/cycle", rate
        for row in sigrace["sustained"]:
            name = f"RDM of sigrace, blocks of {row['block_instructions']} instructions"
            yield name, "cycles a message", row["message_cycles"]
        for row in sigrace["recorder"]:
            yield f"recorder of threads, {row['name']}", "events/s", row["recorded"]["median"]
    if noncoherent := found.get("noncoherent"):
        for row in noncoherent["analysis"]:
            name = f"check of accelerators, mode {row['mode']}, {row['buffers']} buffers"
            rate = row["operations"] / row["check"]
            yield f"{name}, {row['operations']} operations", "operations/s", rate
        for access, rates in noncoherent["recorder"].items():
            yield f"recorder of accelerators, {access}", "accesses/s", rates["median"]


def _outcomes(name: str, counts: Mapping[str, int]) -> _Figures:
    """How many races there are of each outcome; none without races."""
    if total := sum(counts.values()):
        for outcome, count in counts.items():
            yield f"{name}: {OUTCOME}{outcome}", f"of {total}", count


def _scord(found: _Json) -> _Figures:
    total = next(row for row in found["races"] if row["name"] == "Total")
    name = f"ScoR suite, size {found['size']}, schedules {found['schedules']}"
    if (region := found["bytes monitored at least"]) != _REGION:
        name += f", region at least {region} bytes"
    for key, detector in (("oracle", "oracle"), ("base", "an entry a word"), ("cached", "cached")):
        yield f"{name}: racy builds found, {detector}", f"of {total['builds']}", total[key]
    for detector, what in (("cached", "cached"), ("byte8", "8 bytes"), ("byte16", "16 bytes")):
        false = sum(row["counts"][detector] for row in found["false_races"])
        yield f"{name}: false races, {what}", "races", false
    outcomes = Counter({cause.value: 0 for cause in Cause})
    for build in found["builds"]:
        outcomes.update(build["outcomes"])
    yield from _outcomes(name, outcomes)


def _sigrace(found: _Json) -> _Figures:
    programs, runs = found["programs"], found["runs with injected races"]
    name = f"programs with threads, size {found['size']}, {programs} programs"
    tables = found["tables"]
    for what, words in (("existing", ""), ("injected", f", {runs} synchronisations left out")):
        counts: Counter[str] = Counter()
        for row in tables["outcomes"]:
            if row["races"] == what:
                counts.update({key: row[key] for key in row if key not in ("program", "races")})
        yield from _outcomes(name + words, counts)
    total = next(row for row in tables["injected"] if row["program"] == "Total")
    if total["racy"]:
        what = f"{name}, {runs} synchronisations left out: runs found by SigRace"
        yield what, f"of {total['racy']}", total["runs found, SigRace"]
    for row in tables["figure-7a"]:
        if row["configuration"] == CHOSEN:
            for kind in ("regular", "irregular"):
                if (rate := row[f"{kind} %"]) is not None:
                    yield f"{name}: false intersections of {CHOSEN}, {kind} programs", "%", rate
    unreal = sum(
        row["not real"]
        for row in (*tables["existing"], *tables["injected"])
        if row["program"] != "Total"
    )
    yield f"{name}: reports that are no race", "races", unreal


def _noncoherent(found: _Json) -> _Figures:
    tables, seed = found["tables"], found["seed"]
    for row in tables.get("random-traces", ()):
        name = f"random traces of accelerators, seed {seed}, mode {row['mode']}"
        yield f"{name}: first race missed", f"of {row['racy']}", row["missed"]
        yield f"{name}: first race added", f"of {row['traces']}", row["added"]
    monitor: dict[str, Counter[str]] = {}
    for row in tables.get("monitor", ()):
        name = f"bus monitor, {row['entries']} entries, "
        name += "random traces" if row["program"] == "random traces" else "programs"
        counted = {key: row[key] for key in ("races", "lost", "possible", "imprecise")}
        monitor.setdefault(name, Counter()).update(counted)
    for name, counts in monitor.items():
        yield f"{name}: races lost", f"of {counts['races']}", counts["lost"]
        if possible := counts["possible"]:
            yield f"{name}: possible races that are none", f"of {possible}", counts["imprecise"]
    if rows := tables.get("monitor-cycles"):
        rate = sum(row["rows"] for row in rows) / sum(row["cycles"] for row in rows)
        yield "bus monitor on the programs with accelerators", "rows/cycle", rate


def _bugaroo(found: _Json) -> _Figures:
    name = f"programs of weak memory, schedules {found['schedules']}"
    rows = found["tables"]["programs"]
    for kind, wanted in (("that lack a fence", True), ("that lack nothing", False)):
        chosen = [row for row in rows if (row["lacks by PTX"] != "nothing") == wanted]
        if chosen:
            racy = sum(bool(row["racy"]) for row in chosen)
            yield f"{name}: variants {kind}, racy by the oracle", f"of {len(chosen)}", racy


#: Commands that have figures, and what reads them.
MEASURING: Mapping[str, Callable[[_Json], _Figures]] = {
    "bench": _bench,
    "cost": _cost,
    "evaluate bugaroo": _bugaroo,
    "evaluate noncoherent": _noncoherent,
    "evaluate scord": _scord,
    "evaluate sigrace": _sigrace,
}


def figures_of(command: list[str], found: _Json) -> list[tuple[str, str, float]]:
    """Figures in the JSON of a command: name, unit, value.

    Parameters
    ----------
    command : list of str
        The command without ``racetrap``, with its arguments.
    found : mapping
        What it has written.

    Raises
    ------
    ValueError
        If it is no command that measures, or has no figure.
    """
    line = " ".join([*command, ""])
    read = next((read for name, read in MEASURING.items() if line.startswith(f"{name} ")), None)
    figures = list(read(found)) if read else []
    if not figures:
        raise ValueError(f"Command must be one of {', '.join(MEASURING)}, with a figure")
    return figures
