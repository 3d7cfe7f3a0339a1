"""A block without and with a mutant side by side, and what holds between their states."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from racetrap.sim.failure import Failure

#: The block without the mutant, and with it.
SIDES = "gold", "gate"
#: A signal in a relation: a register of either, an input or an output; and the last two alone.
_SIGNAL = re.compile(r"\b(gold|gate|in|out)\.([\w$]+(?:\.[\w$]+)*)(\[\d+\])?")
_PORT = re.compile(r"\b(in|out)\.([\w$]+(?:\.[\w$]+)*)(\[\d+\])?")
#: In what is said of all words of a memory: a word's number, or that with bits inverted.
_NUMBER = re.compile(r"\{i(?:\^(\d+))?\}")
#: Initial values that are known in all bits.
_KNOWN = ({"0"}, {"1"}, {"0", "1"})


@dataclass(frozen=True)
class Relation:
    """What holds between the states of a block without and with a mutant.

    Expressions are Verilog's, with ``gold.NAME`` and ``gate.NAME`` for registers without and with
    the mutant, ``in.NAME`` for inputs and ``out.NAME`` for outputs; a word of a memory is
    ``gold.memory[3]``.  What is said of ``memory[{i}]`` is said of all its words, with ``{i}`` for
    the number of each, and ``{i^2}`` for that with bits inverted.

    Parameters
    ----------
    why : str
        Why nothing that matters is changed, in a sentence.
    state : mapping of str to str
        Registers that need not be equal, each with what holds instead.
    facts : tuple of str
        What holds besides, of the states.
    outputs : mapping of str to str
        Outputs that need not be equal always, each with when they are read.
    given : str
        What inputs are whenever it matters, perhaps in some states; ``why`` says why they are.
    """

    why: str
    state: Mapping[str, str] = field(default_factory=dict)
    facts: tuple[str, ...] = ()
    outputs: Mapping[str, str] = field(default_factory=dict)
    given: str = "1"


class TwoSides:
    """Ports of a block whose registers are outside, and the Verilog that holds two of them against
    each other."""

    def __init__(self, of: str, modules: Mapping[str, Any], nets: Mapping[str, Any]) -> None:
        self._of = of
        # Yosys has a backslash before names that begin with a dollar.
        ports, of_gate, nets = (
            {name.removeprefix("\\"): each for name, each in named.items()}
            for named in (modules["gold"]["ports"], modules["gate"]["ports"], nets)
        )
        if ports.keys() != of_gate.keys():
            raise Failure(f"Relation of {self._of}: the mutant has other registers")
        widths = {name: len(port["bits"]) for name, port in ports.items()}
        self._registers = {
            name.removesuffix(".q"): width
            for name, width in widths.items()
            if name.endswith(".q") and f"{name.removesuffix('.q')}.d" in widths
        }
        of_register = {f"{name}.{end}" for name in self._registers for end in "qdc"}
        self._inputs, self._outputs = (
            {name: widths[name] for name, port in ports.items()
             if port["direction"] == direction and name not in of_register}
            for direction in ("input", "output")
        )  # fmt: skip
        initial = {
            name: str(nets.get(name, {}).get("attributes", {}).get("init", ""))
            for name in self._registers
        }
        self._initial = {name: bits for name, bits in initial.items() if {*bits} in _KNOWN}
        # Plain names in the Verilog: an output may have the name of its register.
        self._port = {name: f"p{place}" for place, name in enumerate(widths)}
        self._register = {name: f"r{place}" for place, name in enumerate(self._registers)}

    def verilog(self, relation: Relation) -> str:
        """A module whose outputs say that the relation does not hold at first, or does not after a
        cycle before which it did, or that outputs differ in that cycle."""
        relation = replace(relation, state=self._of_each_word(relation.state))
        for named, known, kind in (
            (relation.state, self._registers, "register"),
            (relation.outputs, self._outputs, "output"),
        ):
            if unknown := [name for name in named if name not in known]:
                raise Failure(f"Relation of {self._of}: there is no {kind} {unknown[0]}")
        now, after, first = (
            self._holds(relation, name_of) for name_of in (self._now, self._after, self._at_first)
        )
        outputs = " && ".join(
            f"(!({self._expression(relation.outputs.get(name, '1'))}) || "
            f"gold_{self._port[name]} == gate_{self._port[name]})"
            for name in self._outputs
        )  # fmt: skip
        given = self._expression(relation.given)
        lines = [*self._declared(), *map(self._instance, SIDES)]
        return "\n".join([
            f"module relation({', '.join(self._arguments())}, wrong_at_first, wrong_next);",
            "output wrong_at_first, wrong_next;", *lines,
            f"assign wrong_at_first = !({first});",
            f"assign wrong_next = ({given}) && ({now}) && !(({after}) && ({outputs or '1'}));",
            "endmodule", "",
        ])  # fmt: skip

    def _of_each_word(self, state: Mapping[str, str]) -> dict[str, str]:
        """What is said of registers, with that of all words of a memory for each."""

        def of_word(text: str, number: int) -> str:
            return _NUMBER.sub(lambda found: str(number ^ int(found[1] or 0)), text)

        each: dict[str, str] = {}
        for name, text in state.items():
            memory = name.removesuffix("[{i}]")
            words = sum(register.startswith(f"{memory}[") for register in self._registers)
            # Of a memory that is not there one word is kept, which is then unknown.
            numbers = range(words or 1) if name != memory else range(1)
            each |= {of_word(name, number): of_word(text, number) for number in numbers}
        return each

    def _holds(self, relation: Relation, name_of: Callable[[str, str], str]) -> str:
        parts = [
            self._of_registers(relation.state[name], name_of) if name in relation.state
            else f"{name_of('gold', name)} == {name_of('gate', name)}"
            for name in self._registers
        ]  # fmt: skip
        parts += [self._of_registers(fact, name_of) for fact in relation.facts]
        return " && ".join(f"({part})" for part in parts) or "1"

    def _of_registers(self, text: str, name_of: Callable[[str, str], str]) -> str:
        """An expression of registers alone, with the names that ``name_of`` gives them."""

        def plain(found: re.Match[str]) -> str:
            side, name, index = found[1], found[2], found[3] or ""
            if f"{name}{index}" in self._registers:
                name, index = f"{name}{index}", ""
            if side not in SIDES or name not in self._registers:
                raise Failure(f"Relation of {self._of}: {found[0]} is not known in `{text}`")
            return f"{name_of(side, name)}{index}"

        return _SIGNAL.sub(plain, text)

    def _expression(self, text: str) -> str:
        """An expression of what is there now: registers, inputs, and outputs of ``gold``."""

        def plain(found: re.Match[str]) -> str:
            prefix, known = {"in": ("", self._inputs), "out": ("gold_", self._outputs)}[found[1]]
            if found[2] not in known:
                raise Failure(f"Relation of {self._of}: {found[0]} is not known in `{text}`")
            return f"{prefix}{self._port[found[2]]}{found[3] or ''}"

        return self._of_registers(_PORT.sub(plain, text), self._now)

    def _now(self, side: str, name: str) -> str:
        return f"{side}_{self._register[name]}"

    def _after(self, side: str, name: str) -> str:
        return f"{side}_{self._register[name]}_d"

    def _at_first(self, side: str, name: str) -> str:
        """A register's initial value; if it has none it has the same on both sides."""
        return f"{'first' if name in self._initial else 'gold'}_{self._register[name]}"

    def _arguments(self) -> list[str]:
        return [
            *(self._port[name] for name in self._inputs),
            *(self._now(side, name) for side in SIDES for name in self._registers),
        ]

    def _declared(self) -> list[str]:
        lines = [_wires("input", width, self._port[name]) for name, width in self._inputs.items()]
        for side in SIDES:
            for name, width in self._registers.items():
                lines.append(_wires("input", width, self._now(side, name)))
                lines.append(_wires("wire", width, self._after(side, name)))
            lines += [
                _wires("wire", width, f"{side}_{self._port[name]}")
                for name, width in self._outputs.items()
            ]
        return lines + [
            _wires("wire", len(bits), f"first_{self._register[name]} = {len(bits)}'b{bits}")
            for name, bits in self._initial.items()
        ]

    def _instance(self, side: str) -> str:
        """One of the two blocks."""
        ends = [
            *((name, self._port[name]) for name in self._inputs),
            *((name, f"{side}_{self._port[name]}") for name in self._outputs),
        ]
        for name in self._registers:
            ends.append((f"{name}.q", self._now(side, name)))
            ends.append((f"{name}.d", self._after(side, name)))
        connected = ", ".join(rf".\{name} ({plain})" for name, plain in ends)
        return f"{side} the_{side} ({connected});"


def _wires(kind: str, width: int, rest: str) -> str:
    return f"{kind} [{width - 1}:0] {rest};"
