"""Figures in the JSON of the commands that measure: name, unit and value of each."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

from docs.site.history import (
    detection,
    mutants,
    noncoherent,
    overhead,
    scord,
    sigrace,
    vortex,
)
from docs.site.history.limit import Figures
from racetrap.generators.system import System
from racetrap.generators.systems import SYSTEMS

_Json: TypeAlias = Mapping[str, Any]
#: What reads the figures of a detector, by its name.
_OWN = {"scord": scord, "sigrace": sigrace, "noncoherent": noncoherent}
#: Cells that are look-up tables and nothing else.
_TABLES = ("LUT4", "SB_LUT4")


def _cost(found: _Json) -> Figures:
    for table in found["tables"]:
        changed = f" with {', '.join(table['settings'])}," if table["settings"] else ""
        for block in table["blocks"]:
            for target, cost in block["costs"].items():
                name = f"{block['block']} of {table['preset']}{changed} on {target}"
                if synthesis := cost["synthesis"]:
                    tables = sum(synthesis["cells"].get(cell, 0) for cell in _TABLES)
                    yield f"{name}: look-up tables", "LUT", tables
                    if synthesis["lut"] != tables:
                        whole = f"{name}: the same with carry chains and LUT RAM"
                        yield whole, "LUT", synthesis["lut"]
                    yield f"{name}: flip-flops", "FF", synthesis["ff"]
                    if synthesis["block_ram"]:
                        yield f"{name}: block RAMs", "RAM", synthesis["block_ram"]
                if fmax := cost["fmax_mhz"]:
                    yield f"{name}: median Fmax", "MHz", fmax["median"]


def _bench(found: _Json) -> Figures:
    for system in SYSTEMS:
        if measured := found.get(system.name):
            yield from _speed(system, measured)
            yield from _OWN[system.name].bench_figures(measured)


def _speed(system: System[Any], measured: _Json) -> Figures:
    if speed := measured.get("speed"):
        unit = f"{system.own('evaluation', 'throughput').UNIT}/s"
        name = f"co-simulation of {system.name}, plain golden model"
        yield name, unit, speed["together"]["median"]
        for way, rate in speed["same_trace"].items():
            yield f"{system.name}: the same trace by {way} co-simulation", unit, rate


def _bugaroo(found: _Json) -> Figures:
    name = f"programs of weak memory, schedules {found['schedules']}"
    rows = found["tables"]["programs"]
    for kind, wanted in (("that lack a fence", True), ("that lack nothing", False)):
        chosen = [row for row in rows if (row["lacks by PTX"] != "nothing") == wanted]
        if chosen:
            racy = sum(bool(row["racy"]) for row in chosen)
            yield f"{name}: variants {kind}, racy by the oracle", f"of {len(chosen)}", racy


def _campaign(found: _Json) -> Figures:
    """A run with a difference is none that is kept."""
    for row in found.get("presets", ()):
        unit = next(name for name in row if f"{name}_per_second" in row)
        name = f"campaign of {row['preset']}, seed {row['seed']}"
        yield f"{name}: compared without a difference", unit, row[unit]
        yield f"{name}: cases", "cases", row["cases"]
        yield f"{name}: length", "cycles", row["cycles"]


#: Commands that have figures, and what reads them.
MEASURING: Mapping[str, Callable[[_Json], Figures]] = {
    "bench": _bench,
    "campaign": _campaign,
    "cost": _cost,
    "detection": detection.figures,
    "mutants": mutants.figures,
    "evaluate bugaroo": _bugaroo,
    "evaluate overhead": overhead.evaluate_figures,
    "evaluate vortex": vortex.evaluate_figures,
    **{f"evaluate {name}": own.evaluate_figures for name, own in _OWN.items()},
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
        raise ValueError(
            f"Command {line.strip()!r} gives no figure: choose {' or '.join(MEASURING)}"
        )
    return figures
