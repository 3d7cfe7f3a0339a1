"""The golden ScoRD model on whole traces: unique races, and their steps.

Ref: ScoRD (ISCA'20) Sections IV and V-A (unique races).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from itertools import islice
from types import MappingProxyType

from racetrap.golden_model.scord.packets import PacketKind, Step
from racetrap.golden_model.scord.params import ScordParams
from racetrap.golden_model.scord.scord import Scord
from racetrap.golden_model.trace import Trace
from racetrap.verdict.gpu.findings import UniqueRace
from racetrap.verdict.gpu.fit import region_of

#: Detectors of Tables VI and VII, by the name of their column: the preset of each.
DETECTORS: Mapping[str, str] = MappingProxyType({
    "base": "scord-nocache",
    "cached": "scord",
    "byte8": "scord-8byte",
    "byte16": "scord-16byte",
})  # fmt: skip

#: Steps on one metadata entry, of any word, each with the number of its event.
History = list[tuple[int, Step]]


def detect(trace: Trace, params: ScordParams) -> set[UniqueRace]:
    """Unique races that the golden model reports."""
    scord = Scord(params, region_of(trace))
    for event in trace:
        scord.run(event)
    return set(scord.unique)


def histories(trace: Trace, params: ScordParams, spans: Mapping[int, range]) -> dict[int, History]:
    """Steps of the detector on the metadata entries of some addresses, by address.

    Parameters
    ----------
    trace : Trace
        Run to watch.
    params : ScordParams
        Configuration.
    spans : mapping of int to range
        Byte addresses in the monitored region, each with the range of events to include.
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
