"""Rewriting of the generated Verilog that makes registers cheaper in a cycle-based simulator.

Behaviour is the same in every cycle.
"""

from __future__ import annotations

import re

# Names as yosys writes them: an escaped one ends with a space, which is part of it.
_NAME = r"(?:\\\S+ |\w+)"
_NET = r"\\\$\d+ "
_REGISTER = re.compile(rf"  always @\(posedge clk\)\n    ({_NAME}) <= ({_NET});\n")
_NEXT = re.compile(
    rf"  always @\* begin\n    if \(\S+ \) begin end\n    ({_NET}) = ({_NAME});\n"
    r"((?:    .*\n)*)  end\n"
)


def fold_registers(verilog: str) -> str:
    """Compute the next value of a register where it is stored, not in a separate block.

    A simulator then computes it at the clock edge, not whenever an input may have changed.  Only
    next values that nothing else reads are folded.

    Parameters
    ----------
    verilog : str
        Verilog of the generator.
    """
    return "".join(map(_fold_module, re.split(r"(?<=^endmodule\n)", verilog, flags=re.MULTILINE)))


def _fold_module(module: str) -> str:
    registers = {match[2]: match for match in _REGISTER.finditer(module)}
    for block in list(_NEXT.finditer(module)):
        net, name, body = block.groups()
        register = registers.get(net)
        if register is None or register[1].strip() != name.strip():
            continue
        assignment = re.compile(rf"^( +){re.escape(net)}(.*?) = ", flags=re.MULTILINE)
        stored = name.replace("\\", r"\\")
        folded, targets = assignment.subn(rf"\g<1>{stored}\g<2> <= ", body)
        # Only the next value is assigned here, and it is read nowhere else: its default, its
        # declaration and the register remain.
        if targets == body.count(" = ") and module.count(net) == targets + 3:
            module = module.replace(register[0], "")
            clocked = f"  always @(posedge clk) begin\n{folded}  end\n"
            module = module.replace(block[0], clocked)
    return module
