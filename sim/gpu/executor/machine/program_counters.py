"""Program counters in traces.

Inside a program an instruction is its number in the module; functions' ends have numbers
behind all instructions.
"""

from __future__ import annotations

#: Program counter in traces of the first instruction of a module, and bytes of each.
PC_BASE = 0x1000
_PC_BYTES = 8


def event_pc(number: int) -> int:
    """Program counter in traces of an instruction."""
    return PC_BASE + _PC_BYTES * number


def instruction_number(pc: int) -> int:
    """The instruction of a program counter in traces."""
    return (pc - PC_BASE) // _PC_BYTES
