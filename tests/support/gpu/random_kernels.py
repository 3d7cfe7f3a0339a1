"""Kernels of random control flow, and the result of each of their threads.

A program is a row of basic blocks.  Each mixes the value ``x``, takes one from the thread's fuel
(at 0 the thread is done) and goes on by some bits of ``x``: any block may be the target of any
other, so loops have several entries and exits.
"""

from __future__ import annotations

from dataclasses import dataclass
from random import Random

from tests.support.gpu.ptx_text import HEADER

_MASK = (1 << 32) - 1
#: Fuel of a kernel's thread, and of each call.
_KERNEL_FUEL, _CALL_FUEL = 30, 17
_KINDS = ("branch", "branch", "branch", "goto", "fall", "end", "end-if", "table")


@dataclass(frozen=True)
class Block:
    """A basic block: ``x = x * factor + term``, then what ``kind`` says, by bit ``bit`` of x."""

    factor: int
    term: int
    kind: str
    bit: int
    targets: tuple[int, int, int]
    negated: bool

    def value(self, x: int) -> int:
        return (x * self.factor + self.term) & _MASK

    def choice(self, x: int) -> int:
        return x >> self.bit & (3 if self.kind == "table" else 1)


def random_blocks(rng: Random, calls: bool) -> list[Block]:
    """A program; with ``calls`` some blocks call a device function."""
    size = rng.randint(2, 9)
    return [
        Block(
            factor=rng.randrange(1, 1 << 16, 2),
            term=rng.randrange(1 << 16),
            kind=rng.choice((*_KINDS, "call", "call") if calls else _KINDS),
            bit=rng.randrange(3, 20),
            targets=(rng.randrange(size), rng.randrange(size), rng.randrange(size)),
            negated=rng.random() < 0.5,
        )
        for _ in range(size)
    ]


def result(blocks: list[Block], callee: list[Block], x: int, fuel: int = _KERNEL_FUEL) -> int:
    """Value that a thread with value ``x`` ends with."""
    at = 0
    while at < len(blocks):
        block = blocks[at]
        x, fuel, at = block.value(x), fuel - 1, at + 1
        choice = block.choice(x)
        taken = (choice == 1) != block.negated
        if fuel == 0 or block.kind == "end" or (block.kind == "end-if" and taken):
            return x
        if block.kind == "goto" or (block.kind == "branch" and taken):
            at = block.targets[0]
        elif block.kind == "table":
            at = block.targets[min(choice, 2)]
        elif block.kind == "call" and not taken:
            x = result(callee, [], x, _CALL_FUEL)
    return x


def _way_on(number: int, block: Block, end: str) -> str:
    mask = 3 if block.kind == "table" else 1
    test = f"shr.u32 %t, %x, {block.bit}; and.b32 %t, %t, {mask}; setp.eq.u32 %p, %t, 1;"
    guard = "@!%p" if block.negated else "@%p"
    first, second, third = block.targets
    return {
        "fall": "",
        "end": end,
        "goto": f"bra B{first};",
        "branch": f"{test} {guard} bra B{first};",
        "end-if": f"{test} {guard} bra E{number}; bra F{number}; E{number}: {end} F{number}:",
        "table": f"{test} min.u32 %t, %t, 2; "
        f"T{number}: .branchtargets B{first}, B{second}, B{third}; brx.idx %t, T{number};",
        "call": f"{test} {guard} bra S{number}; {{ .param .b32 a; .param .b32 r; "
        f"st.param.b32 [a], %x; call (r), f, (a); ld.param.b32 %x, [r]; }} S{number}:",
    }[block.kind]


def _body(blocks: list[Block], fuel: int, end: str) -> str:
    lines = [f"mov.u32 %fuel, {fuel};"]
    for number, block in enumerate(blocks):
        lines.append(f"B{number}: mad.lo.u32 %x, %x, {block.factor}, {block.term};")
        lines.append("sub.u32 %fuel, %fuel, 1; setp.eq.u32 %q, %fuel, 0; @%q bra END;")
        lines.append(_way_on(number, block, end))
    return "\n".join([*lines, f"END: {end}"])


def kernel_ptx(blocks: list[Block], callee: list[Block], one_end: bool) -> str:
    """Kernel ``k``, in which each thread begins with its number and stores what it comes to.

    With ``one_end`` all threads end in one place; otherwise each where it is done.
    """
    registers = ".reg .b32 %x, %fuel, %t; .reg .pred %p, %q; .reg .b64 %a, %b;"
    store = "st.global.u32 [%a], %x; ret;"
    return (
        f"{HEADER}.func (.param .b32 out) f(.param .b32 in) {{ {registers}\n"
        f"ld.param.b32 %x, [in];\n"
        f"{_body(callee, _CALL_FUEL, 'st.param.b32 [out], %x; ret;')}\n}}\n"
        f".entry k(.param .u64 results) {{ {registers}\n"
        f"ld.param.u64 %a, [results]; mov.u32 %x, %tid.x;\n"
        f"mul.wide.u32 %b, %x, 4; add.s64 %a, %a, %b;\n"
        f"{_body(blocks, _KERNEL_FUEL, 'bra STORE;' if one_end else store)}\nSTORE: {store}\n}}\n"
    )
