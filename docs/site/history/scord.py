"""Figures of ScoRD that the history of the results keeps: name, unit and value of each."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any

from docs.site.history.limit import Figures, outcome_figures
from racetrap.verdict.scord.missed import Cause

#: Bytes that ``evaluate scord`` monitors at least, if nothing else is asked for.
_REGION = 1 << 20


def bench_figures(found: Mapping[str, Any]) -> Figures:
    """Figures in its part of the JSON of `racetrap bench`."""
    far = "" if (latency := found["latency"]) is None else f", latency {latency}"
    for name, rate in found["accesses_per_cycle"].items():
        yield f"one bank of scord, {name.replace('_', ' ')}{far}", "accesses/cycle", rate
    yield f"four banks of scord{far}", "accesses/cycle", found["banks"]["four"]
    for preset, rates in found["saturated"].items():
        for part in ("hardware", "together"):
            name = f"co-simulation of {preset}, whole lines, {part}"
            yield name, "accesses/s", rates[part]["median"]
    for row in found["fences"]:
        name = f"bank of scord, fence lanes {row['lanes']}, SMs {row['sms']}"
        yield name, "fences/cycle", row["fences_per_cycle"]
    for row in found["widths"]:
        name = f"metadata port of scord-tiny, words a cycle {row['words']}, {row['traffic']}"
        name += far
        yield name, "accesses/cycle", row["accesses_per_cycle"]
    threads = max(found["executor"], key=int)
    yield f"executor, {threads} threads", "instructions/s", found["executor"][threads]
    for name, seconds in found.get("executor_loops", {}).items():
        yield f"executor, {name}", "s", seconds
    for row in found["applications"]:
        yield f"compiled oracle, race-free {row['name']}", "events/s", row["causality"]


def evaluate_figures(found: Mapping[str, Any]) -> Figures:
    """Figures in the JSON of its `racetrap evaluate`."""
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
    yield from outcome_figures(name, outcomes)
