"""Instruction counts of a compiled program between its calls of the recording runtime.

The compiler calls the runtime at every access, function and basic block.  From the return address
of one such call the program runs straight to the next, so the number of instructions in between can
be looked up.  The calls themselves and the moves of their arguments, which only recording needs, do
not count; instructions of libraries are unknown.

At a conditional branch whose target is not a basic block of the source (the compiler made it later)
the fall-through path is taken.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import NamedTuple

import numpy as np

from racetrap.sim.cpu.errors import RecordError
from racetrap.sim.gnu_tools import run_tool

COUNT_DTYPE = np.dtype("<u2")
_MOST = np.iinfo(COUNT_DTYPE).max
#: Bytes of x86's longest instruction.
_LONGEST_INSTRUCTION = 15

_PREFIXES = {"lock", "rep", "repz", "repnz", "bnd", "notrack", "data16", "cs", "ds", "addr32"}
#: Moves into registers of arguments, by register.
_ARGUMENT = re.compile(r",%[re](di|si)$")
#: Padding, and moves between registers and the stack, which save registers around a call of the
#: runtime.
_NO_WORK = re.compile(r"nop|endbr|mov\w* (%\w+,)?(0x\w+)?\(%rsp\)(,%\w+)?$")
#: Registers loaded only for recording; by default that of the address.
_ARGUMENTS = {
    "__sanitizer_cov_trace_pc": (),
    "__tsan_func_exit": (),
    "__tsan_init": (),
    "__tsan_read_range": ("di", "si"),
    "__tsan_write_range": ("di", "si"),
    "__tsan_vptr_update": ("di", "si"),
}
#: Calls without an access, or that do the access themselves.
_NO_ACCESS = ("__tsan_func_", "__tsan_init", "__tsan_atomic", "__sanitizer_cov_")

_CALLBACK = re.compile(r"\tcall +\w+ <__(?:tsan|sanitizer_cov)_")


class _Instruction(NamedTuple):
    address: int
    name: str
    operands: str
    target: str  # function that is called or jumped to
    goal: int  # address of that, or -1
    function: str  # containing function


def _disassemble(program: Path) -> tuple[list[_Instruction], int, int]:
    """Instructions of the functions that call the runtime; first and last address of all code.

    Most of a small program is our own runtime, which is passed over.
    """
    text = run_tool(
        ["objdump", "-d", "--no-show-raw-insn", str(program)],  # all sections that have code
        "Instructions of the program cannot be read",
        error=RecordError,
    )
    found: list[_Instruction] = []
    ends: list[int] = []
    for part in text.split("\n\n"):
        head, _, body = part.partition("\n")
        if not head.endswith(">:"):
            continue
        function = head[head.index("<") + 1 : -2]
        lines = [line for line in body.splitlines() if ":\t" in line]
        ends += [int(line.partition(":\t")[0], 16) for line in (*lines[:1], *lines[-1:])]
        if _CALLBACK.search(body):
            found += [_instruction(line, function) for line in lines]
    return found, min(ends, default=0), max(ends, default=0)


def _instruction(line: str, function: str) -> _Instruction:
    """What a line of the disassembler says of an instruction."""
    address, _, rest = line.partition(":\t")
    words = rest.split()
    while len(words) > 1 and words[0] in _PREFIXES:
        del words[0]
    name = words[0]
    operands = words[1] if len(words) > 1 else ""
    target, goal = "", -1
    if name[0] in "cj" and (name[0] == "j" or name == "call") and operands[0] not in "*%":
        goal = int(operands, 16)
        target = words[2].strip("<>") if len(words) > 2 else ""
    return _Instruction(int(address, 16), name, operands, target, goal, function)


def _is_callback(instruction: _Instruction) -> bool:
    return instruction.target.startswith(("__tsan_", "__sanitizer_cov_"))


class _Walk:
    """Counts along the path from an instruction to the next call of the runtime."""

    def __init__(self, instructions: list[_Instruction]):
        self.instructions = instructions
        self.rows = {item.address: row for row, item in enumerate(instructions)}

    def count(self, row: int) -> int:
        """Instructions from ``row`` up to the next call or the function's end."""
        total, function = 0, self.instructions[row].function
        seen: set[int] = set()
        loaded: set[str] = set()  # registers of arguments, since the last call
        while row < len(self.instructions) and row not in seen:
            seen.add(row)
            item = self.instructions[row]
            if item.function != function:
                break
            if _is_callback(item):
                return total - len(loaded.intersection(_ARGUMENTS.get(item.target, ("di",))))
            is_work = not _NO_WORK.match(f"{item.name} {item.operands}")
            total += is_work
            if is_work and (argument := _ARGUMENT.search(item.operands)):
                loaded.add(argument[1])
            elif item.name == "call":
                loaded.clear()
            if item.name.startswith("ret"):
                break
            if item.name.startswith("jmp"):
                next_row = self.rows.get(item.goal)
                if next_row is None:
                    break
                row = next_row
            else:
                row += 1
        return total


def _count(instructions: list[_Instruction]) -> dict[int, int]:
    """Instructions after the return address of each call of the runtime."""
    walk = _Walk(instructions)
    counts: dict[int, int] = {}
    first = 0
    for row, item in enumerate(instructions):
        if row and item.function != instructions[row - 1].function:
            first = row
        if not _is_callback(item) or item.name != "call" or row + 1 >= len(instructions):
            continue
        count = walk.count(row + 1)
        if item.target == "__tsan_func_entry":
            count += walk.count(first)  # instructions of the function before it
        elif not item.target.startswith(_NO_ACCESS):
            count = max(0, count - 1)  # the runtime counts the access itself
        counts[instructions[row + 1].address] = min(count, _MOST)
    return counts


def write_counts(program: Path, target: Path) -> None:
    """Write the counts as an array by return address, with holes where there is no code.

    It covers all code of the program: the runtime takes a return address beyond it as a library's.
    """
    instructions, low, last = _disassemble(program)
    counts = _count(instructions)
    end = last + _LONGEST_INSTRUCTION
    table = np.zeros(end + 1 - low, COUNT_DTYPE)
    addresses = np.fromiter(counts, np.int64, len(counts))
    table[addresses - low] = np.fromiter(counts.values(), COUNT_DTYPE, len(counts))
    with target.open("wb") as file:
        file.seek(low * COUNT_DTYPE.itemsize)
        table.tofile(file)
