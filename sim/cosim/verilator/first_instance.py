"""The first instance of each module of a Verilog file, and a selector that enters it alone.

Equal changes in instances that follow each other may undo one another: two inverters are none.
"""

from __future__ import annotations

import re
from collections import Counter

_MODULE = re.compile(r"^module \\?(\S+?) ?\(.*?^endmodule$", re.MULTILINE | re.DOTALL)
_INSTANCE = re.compile(r"^  (\S+) \S+ \(\n(?:    .*\n)*?  \);$", re.MULTILINE)


def module_bodies(verilog: str) -> dict[str, str]:
    """Text of each module of a file that Yosys has written, by name."""
    return {found[1]: found[0] for found in _MODULE.finditer(verilog)}


def repeated_modules(verilog: str, top: str) -> set[str]:
    """Modules with several instances in the design of module ``top``."""
    bodies, counts = module_bodies(verilog), Counter[str]()
    waiting = [top]
    while waiting:
        module = waiting.pop()
        counts[module] += 1
        if counts[module] <= 2:  # what is inside more is repeated anyway
            waiting += [name for name in _INSTANCE.findall(bodies[module]) if name in bodies]
    return {module for module, number in counts.items() if number > 1}


def select_first(verilog: str, top: str, selector: str, bits: int) -> str:
    """A design whose selector has one more bit: it then enters first instances alone.

    Parameters
    ----------
    verilog : str
        The design.
    top : str
        Its module, in which instances are numbered from.
    selector : str
        Input of modules; numbers compared with it have ``bits`` bits.
    bits : int
        The further bit.
    """
    bodies, seen, waiting = module_bodies(verilog), {top}, [top]
    compared, entered = f"= {selector} == ", f".{selector}({selector})"
    none = f".{selector}({selector} & {{{bits + 1}{{~{selector}[{bits}]}}}})"

    def enter(instance: re.Match[str]) -> str:
        if instance[1] in seen:
            return instance[0].replace(entered, none)
        seen.add(instance[1])
        waiting.append(instance[1])
        return instance[0]

    while waiting:
        module = waiting.pop()
        if module in bodies:  # others are of the simulator's own
            text = bodies[module].replace(compared, f"= {selector}[{bits - 1}:0] == ")
            bodies[module] = _INSTANCE.sub(enter, text)
    return "\n".join([*bodies.values(), ""])
