"""Bits of a design that are constant from power-up on, found from its structure alone.

Each bit begins as unknown, and a register as what it holds at power-up.  What cells make of that is
added to what their outputs can be, until nothing is new.  A register or memory without such a value
counts from the first clock edge on, which comes in reset.  All instances of a module count as one.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache
from itertools import chain
from pathlib import Path
from typing import Any, TypeAlias

from racetrap.evaluation.mutants.observed import modules_of

#: What a bit can be: nothing yet, one value, or both.
_Can: TypeAlias = str | None
_BOTH = "x"
_KNOWN = {"0", "1"}


def _union(values: Iterable[_Can]) -> _Can:
    found = {each for each in values if each is not None}
    return _BOTH if len(found) > 1 else next(iter(found), None)


def _not(value: _Can) -> _Can:
    return {"0": "1", "1": "0"}.get(value or "", value)


def _and(*values: _Can) -> _Can:
    if "0" in values:
        return "0"
    if None in values:
        return None
    return _BOTH if _BOTH in values else "1"


def _or(*values: _Can) -> _Can:
    return _not(_and(*map(_not, values)))


def _xor(first: _Can, other: _Can) -> _Can:
    if None in (first, other):
        return None
    return _BOTH if _BOTH in (first, other) else str(int(first != other))


def _is_zero(values: Iterable[_Can]) -> _Can:
    return _not(_or(*values))


_BITWISE: Mapping[str, Callable[..., _Can]] = {
    "$and": _and, "$or": _or, "$xor": _xor, "$not": _not,
}  # fmt: skip
#: Cells whose output has one bit that matters.
_OF_ALL: Mapping[str, Callable[[Sequence[Sequence[_Can]]], _Can]] = {
    "$reduce_and": lambda inputs: _and(*inputs[0]),
    "$reduce_or": lambda inputs: _or(*inputs[0]),
    "$logic_not": lambda inputs: _is_zero(inputs[0]),
    "$eq": lambda inputs: _is_zero(map(_xor, *inputs)),
    "$ne": lambda inputs: _or(*map(_xor, *inputs)),
}


def _extended(inputs: Sequence[Sequence[_Can]], width: int) -> list[list[_Can]]:
    return [[*each, *["0"] * (width - len(each))] for each in inputs]


class Constants:
    """Constant bits of a design.

    Parameters
    ----------
    modules : mapping
        Modules of the design, as Yosys writes them in JSON.
    """

    def __init__(self, modules: Mapping[str, Any]) -> None:
        self._modules = modules
        #: By module and bit, what it can be, the cells that use it, and where it leaves.
        self._can: dict[tuple[str, Any], _Can] = {}
        self._users: dict[tuple[str, Any], list[tuple[str, str]]] = defaultdict(list)
        self._instances: dict[str, list[tuple[str, str]]] = defaultdict(list)
        self._waiting: dict[tuple[str, str], None] = {}
        for name, module in modules.items():
            for cell, each in module["cells"].items():
                self._waiting[name, cell] = None
                if each["type"] in modules:
                    self._instances[each["type"]].append((name, cell))
                for bit in chain.from_iterable(self._pins(each, "input").values()):
                    self._users[name, bit].append((name, cell))
        for name, module in modules.items():
            for port in module["ports"].values():
                if port["direction"] == "output":
                    for bit in port["bits"]:
                        self._users[name, bit] += self._instances[name]
                elif not self._instances[name]:
                    self._add(name, port["bits"], [_BOTH] * len(port["bits"]))
            for net in module.get("netnames", {}).values():
                begins = reversed(net["attributes"].get("init", ""))
                self._add(name, net["bits"], [each if each in _KNOWN else None for each in begins])
        while self._waiting:
            first = next(iter(self._waiting))
            del self._waiting[first]
            self._evaluate(*first)

    def of(self, module: str, cell: str, port: str, number: int) -> str | None:
        """Value of bit ``number`` of a cell's port, "0" or "1"; ``None`` if it is not constant."""
        bit = self._modules[module]["cells"][cell]["connections"][port][number]
        value = self._value(module, bit)
        return value if value in _KNOWN else None

    @staticmethod
    def _pins(cell: Mapping[str, Any], direction: str) -> dict[str, list[Any]]:
        directions = cell["port_directions"]
        return {n: bits for n, bits in cell["connections"].items() if directions[n] == direction}

    def _value(self, module: str, bit: Any) -> _Can:
        if isinstance(bit, int):
            return self._can.get((module, bit))
        return bit if bit in _KNOWN else _BOTH

    def _add(self, module: str, bits: Sequence[Any], values: Iterable[_Can]) -> None:
        for bit, value in zip(bits, values, strict=False):
            before = self._can.get((module, bit))
            if (now := _union((before, value))) != before and isinstance(bit, int):
                self._can[module, bit] = now
                self._waiting |= dict.fromkeys(self._users[module, bit])

    def _evaluate(self, module: str, name: str) -> None:
        cell = self._modules[module]["cells"][name]
        outputs = self._pins(cell, "output")
        inside = self._modules.get(cell["type"])
        if not inside and all(
            self._value(module, bit) == _BOTH for bits in outputs.values() for bit in bits
        ):
            return  # nothing can be new
        given = {
            port: [self._value(module, bit) for bit in bits]
            for port, bits in self._pins(cell, "input").items()
        }
        if inside:
            for port, values in given.items():
                self._add(cell["type"], inside["ports"][port]["bits"], values)
            for port, bits in outputs.items():
                inner = inside["ports"][port]["bits"]
                self._add(module, bits, [self._value(cell["type"], bit) for bit in inner])
            return
        for bits in outputs.values():
            self._add(module, bits, _outputs(cell, given, len(bits)))


def _outputs(
    cell: Mapping[str, Any], given: Mapping[str, list[_Can]], width: int
) -> Iterable[_Can]:
    """What the bits of the only output of a cell can be."""
    kind, parameters = cell["type"], cell.get("parameters", {})
    if kind == "$dff":
        return given["D"]
    if kind == "$mux":
        return [
            _union(value for value, choice in zip(each, ("0", "1"), strict=True)
                   if given["S"][0] in (choice, _BOTH))
            for each in zip(given["A"], given["B"], strict=True)
        ]  # fmt: skip
    if kind == "$pmux":
        chosen = [n for n, value in enumerate(given["S"]) if value in ("1", _BOTH)]
        return [
            _union([given["A"][bit], *(given["B"][n * width + bit] for n in chosen)])
            for bit in range(width)
        ]
    if kind == "$mem_v2" and not int(parameters["RD_CLK_ENABLE"], 2):
        words = int(parameters["WIDTH"], 2)
        begin = parameters["INIT"][::-1]
        begins: list[_Can] = [bit if bit in _KNOWN else None for bit in begin]
        each = [
            _union([*begins[bit::words], *given["WR_DATA"][bit::words]]) for bit in range(words)
        ]
        return each * (width // words)
    is_signed = any(int(parameters.get(f"{port}_SIGNED", "0"), 2) for port in given)
    inputs = list(given.values())
    if not is_signed and kind in _BITWISE and max(map(len, inputs)) <= width:
        return map(_BITWISE[kind], *_extended(inputs, width))
    if not is_signed and kind in _OF_ALL:
        found = _OF_ALL[kind](_extended(inputs, max(map(len, inputs))))
        return [found, *["0"] * (width - 1)]
    return [None if None in chain.from_iterable(inputs) else _BOTH] * width


@cache
def constants(folder: Path) -> Constants:
    """Constant bits of the design in the folder of a build with mutants."""
    return Constants(modules_of(folder))
