"""The golden ScoRD model over whole traces: unique races, and the steps behind them.

Ref: ScoRD (ISCA'20) Sections IV and V-A (unique races).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Mapping
from dataclasses import asdict
from itertools import islice
from types import MappingProxyType

from racetrap.golden_model.events import Geometry
from racetrap.golden_model.gpu.region import Region
from racetrap.golden_model.scord.packets import PacketKind, Step
from racetrap.golden_model.scord.params import ScordParams
from racetrap.golden_model.scord.scord import Scord
from racetrap.golden_model.trace import Trace

__all__ = [
    "DETECTORS",
    "History",
    "Reports",
    "UniqueRace",
    "check_fit",
    "check_geometry",
    "detect",
    "histories",
    "region_of",
]

#: Detectors of Tables VI and VII, by the name of their column: the preset of each.
DETECTORS: Mapping[str, str] = MappingProxyType({
    "base": "scord-nocache",
    "cached": "scord",
    "byte8": "scord-8byte",
    "byte16": "scord-16byte",
})  # fmt: skip

#: What makes a race unique: program counter and kind of race (``RaceKind``).
UniqueRace = tuple[int, int]
#: Different races that a detector reports, with the program counters of the earlier accesses.
Reports = Mapping[UniqueRace, Collection[int]]
#: Steps on one metadata entry, of whatever word, each with the number of its event.
History = list[tuple[int, Step]]


def region_of(trace: Trace) -> Region:
    """Monitored region that a trace asks for."""
    header = trace.header.region
    return Region(header.data_base, header.size_log2)


def check_geometry(geometry: Geometry, params: ScordParams) -> None:
    """Raise ``ValueError`` if a trace was taken on a larger GPU than ``params`` describes."""
    for name, needed in asdict(geometry).items():
        if needed > getattr(params, name):
            raise ValueError(
                f"Parameter {name} must be at least the {needed} of the trace, "
                f"not {getattr(params, name)}"
            )


def check_fit(trace: Trace, params: ScordParams) -> None:
    """Raise ``ValueError`` if a configuration has no room for a trace's GPU or its region."""
    check_geometry(trace.header.geometry, params)
    region_of(trace).check(params)


def detect(trace: Trace, params: ScordParams) -> set[UniqueRace]:
    """Unique races that the golden model reports."""
    scord = Scord(params, region_of(trace))
    for event in trace:
        scord.run(event)
    return set(scord.unique)


def histories(trace: Trace, params: ScordParams, spans: Mapping[int, range]) -> dict[int, History]:
    """What the detector did with the metadata entries of some addresses, by address.

    Parameters
    ----------
    trace : Trace
        Run to watch.
    params : ScordParams
        Configuration.
    spans : mapping of int to range
        Byte addresses in the monitored region, each with the numbers of the events in question.
    """
    region = region_of(trace)
    watched: defaultdict[int, set[int]] = defaultdict(set)
    for address in spans:
        watched[region.locate(params, address)[0]].add(address)
    found: dict[int, History] = {address: [] for address in spans}
    scord = Scord(params, region)
    end = max(span.stop for span in spans.values())
    for number, event in enumerate(islice(trace, end)):
        for step in scord.run(event):
            address = step.packet.word << 2
            if step.packet.kind == PacketKind.FENCE or not region.contains(address):
                continue
            for seen in watched.get(region.locate(params, address)[0], ()):
                if number in spans[seen]:
                    found[seen].append((number, step))
    return found
