"""Table of what a load/store unit issues to a front end."""

from __future__ import annotations

from docs.site.markdown import table
from racetrap.generators.description import describe_ports
from racetrap.generators.systems import SYSTEMS

_PART = "front-end"


def fields_table() -> str:
    """Bits of each field of the issue stream, and ports and pins, of each detector's own preset."""
    names, layouts, counts = [], [], []
    for system in SYSTEMS:
        if _PART in system.parts:
            params = system.presets[system.name].params
            ports = describe_ports(system.parts[_PART](params))
            names.append(f"`{system.name}`")
            layouts.append(params.instruction_layout)
            counts.append((len(ports), sum(port["width"] for port in ports.values())))
    rows = [
        [f"`{field}`", *(layout.fields[field] for layout in layouts)] for field in layouts[0].fields
    ]
    rows.append(["all fields", *(layout.width for layout in layouts)])
    rows.append(["ports; pins", *(f"{ports}; {pins}" for ports, pins in counts)])
    return table(["field", *(f"bits in {name}" for name in names)], rows)
