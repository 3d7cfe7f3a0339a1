"""Operands as wide as strict readers of Verilog want them, whatever Amaranth has shortened.

Amaranth writes the shorter operand of a sum as it is, and takes a signed operand where that is
shorter.  Both are correct, since Verilog extends operands; but Slang and other linters warn of
operands of different width, of results that change from signed to unsigned, and of shifted words
of which only the low bits are kept.  Here each extension is written out.
"""

from __future__ import annotations

import re

#: A cell that may need it: its kind, its name, and its parameters and connections.
_CELL = re.compile(r"^  cell \$(add|sub|mul|shl|shift|shr) (\S+)\n((?:    .*\n)*)  end\n", re.M)
_PARAMETER = re.compile(r"^    parameter (?:signed )?\\(\w+) (\d+)$", re.M)
_CONSTANT = re.compile(r"\d+'([01]+)")
_CONNECTION = re.compile(r"^    connect \\(\w+) (.*)$", re.M)


def with_whole_operands(module: str) -> str:
    """RTLIL of a module in which no operand of a sum, product or shift is extended by its cell.

    Operands of a sum or product have one width, none is signed, and a shift keeps all its bits;
    constants are as short as they were.
    """
    return _CELL.sub(_whole, module)


def _whole(cell: re.Match[str]) -> str:
    kind, name, inside = cell.groups()
    sizes = {name: int(value) for name, value in _PARAMETER.findall(inside)}
    nets = dict(_CONNECTION.findall(inside))
    before = after = ""
    if kind in ("shift", "shr"):
        if sizes["A_WIDTH"] <= sizes["Y_WIDTH"] or sizes["A_SIGNED"]:
            return cell[0]
        before = f"  wire width {sizes['A_WIDTH']} $whole{name}\n"
        after = f"  connect {nets['Y']} $whole{name} [{sizes['Y_WIDTH'] - 1}:0]\n"
        nets["Y"], sizes["Y_WIDTH"] = f"$whole{name}", sizes["A_WIDTH"]
    elif sizes["A_SIGNED"]:
        for operand in "A" if kind == "shl" else "AB":
            width, missing = sizes[f"{operand}_WIDTH"], sizes["Y_WIDTH"] - sizes[f"{operand}_WIDTH"]
            if missing > 0 and (bits := _CONSTANT.fullmatch(nets[operand])):
                nets[operand] = f"{width + missing}'{bits[1][0] * missing}{bits[1]}"
                sizes[f"{operand}_WIDTH"] = sizes["Y_WIDTH"]
            elif missing > 0:
                short = f"${operand}{name}"
                before += f"  wire width {width} {short}\n  connect {short} {nets[operand]}\n"
                sign = f"{short} [{width - 1}] " * missing
                nets[operand], sizes[f"{operand}_WIDTH"] = f"{{ {sign}{short} }}", sizes["Y_WIDTH"]
            sizes[f"{operand}_SIGNED"] = 0
    elif kind != "shl":
        width = max(sizes["A_WIDTH"], sizes["B_WIDTH"])
        for operand in "AB":
            missing = width - sizes[f"{operand}_WIDTH"]
            if missing and not _CONSTANT.fullmatch(nets[operand]):
                nets[operand] = f"{{ {missing}'{'0' * missing} {nets[operand]} }}"
                sizes[f"{operand}_WIDTH"] = width
    lines = [f"    parameter \\{name} {value}\n" for name, value in sizes.items()]
    lines += [f"    connect \\{name} {net}\n" for name, net in nets.items()]
    return f"{before}  cell ${kind} {name}\n{''.join(lines)}  end\n{after}"
