"""A small description of registers that has every kind of field."""

from __future__ import annotations

from pathlib import Path

from systemrdl import RDLCompiler
from systemrdl.node import AddrmapNode

from racetrap import rtl

DESCRIPTION = (
    """
addrmap block {
    default regwidth = 32;
    reg { field { sw = r; hw = na; } value[31:0] = 0x1234ABCD; } CONSTANT @ 0x0;
    reg { field { sw = r; hw = w; } low[7:0]; field { sw = r; hw = w; } high[31:24]; } WIRE @ 0x4;
    reg {
        field { sw = rw; hw = r; } word[31:0] = 0x55AA00FF;
    } STORED @ 0x8;
    reg {
        field { sw = rw; hw = r; } enable[0:0] = 1;
        field { sw = rw; hw = r; singlepulse; } pulse[8:8] = 0;
    } CONTROL @ 0x10;
    reg {
        field { sw = w; hw = r; singlepulse; } pulse[0:0] = 0;
    } TRIGGER @ 0x14;
    reg {
        field { sw = r; hw = na; counter; incrwidth = 5; incrsaturate; hwclr; } count[7:0] = 0;
    } SATURATING @ 0x20;
    reg {
        field { sw = r; hw = na; counter; incrwidth = 5; hwclr; } count[7:0] = 0;
    } WRAPPING @ 0x24;
    reg {
        default sw = rw;
        default hw = rw;
        field { swmod; } low[7:0];
        field { swmod; } high[23:16];
    } PORT @ 0x30;
    reg {
        field { sw = rw; hw = na; onwrite = woset; } lock[0:0] = 0;
        field { sw = rw; hw = na; onwrite = woset; hwset; } other[8:8] = 0;
    } LOCKS @ 0x40;
    reg {
        field { sw = rw; hw = r; } low[7:0] = 0x3C;
        field { sw = rw; hw = r; } high[31:24] = 0;
    } LOCKED @ 0x44;
    LOCKED.low->swwel = LOCKS.lock;
    LOCKED.high->swwel = LOCKS.other;
"""
    + (Path(rtl.__path__[0]) / "common/protection.rdl")
    .read_text(encoding="utf-8")
    .replace("HAS_PROTECTION", "true")
    + "};\n"
)


def compile_text(folder: Path, text: str) -> AddrmapNode:
    """The address map of a description, which is written into a folder first."""
    path = folder / "block.rdl"
    path.write_text(text)
    compiler = RDLCompiler()
    compiler.compile_file(str(path))
    return compiler.elaborate().top
