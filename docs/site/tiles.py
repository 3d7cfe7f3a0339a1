"""Table of the tiles of GPU detectors: ports and pins."""

from __future__ import annotations

from dataclasses import replace

from docs.site.markdown import table
from racetrap.generators.description import describe_ports
from racetrap.generators.systems import SYSTEMS

_TILES = ("sm-unit", "slice-unit")


def tiles_table() -> str:
    """Ports and pins of the tiles of each preset without trace port, as Markdown."""
    rows = []
    for system in SYSTEMS:
        if not set(_TILES) <= set(system.parts):
            continue
        for preset in (*system.presets.values(), *system.large_presets.values()):
            row = [f"`{preset.name}`"]
            for part in _TILES:
                ports = describe_ports(system.parts[part](replace(preset.params, trace_port=False)))
                row += [str(len(ports)), str(sum(port["width"] for port in ports.values()))]
            rows.append(row)
    columns = [f"`{part}`: {what}" for part in _TILES for what in ("ports", "pins")]
    return table(["preset", *columns], rows)
