"""A SoC without a processor around a detector: a host reaches all of it through a serial port.

    python soc.py FOLDER PRESET

builds the gateware's Verilog and scripts for an ECP5-85; ``--build`` runs the tools as well.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from detector import RaceDetector, StreamReader, StreamWriter
from litex.build.generic_platform import IOStandard, Pins, Subsignal
from litex.build.lattice import LatticeECP5Platform
from litex.gen import ClockDomain, LiteXModule
from litex.soc.integration.builder import Builder
from litex.soc.integration.soc import SoCRegion
from litex.soc.integration.soc_core import SoCMini

__all__ = ["DetectorSoC"]

_CLOCK_HZ = 48_000_000
_REGISTERS = 0x3000_0000
_MEMORY = 0x4000_0000
_MEMORY_BYTES = 0x8000
_PINS = [
    ("clk", 0, Pins("A10"), IOStandard("LVCMOS33")),
    (
        "serial", 0,
        Subsignal("tx", Pins("A12")), Subsignal("rx", Pins("A13")), IOStandard("LVCMOS33"),
    ),
]  # fmt: skip


class _Clock(LiteXModule):
    def __init__(self, platform):
        self.cd_sys = ClockDomain(reset_less=False)
        clock = platform.request("clk")
        self.comb += [self.cd_sys.clk.eq(clock), self.cd_sys.rst.eq(0)]


class DetectorSoC(SoCMini):
    """Detector, memory for its metadata and reports, and a serial port for the host."""

    def __init__(self, platform, folder: Path, preset: str):
        self.crg = _Clock(platform)
        SoCMini.__init__(self, platform, clk_freq=_CLOCK_HZ, bus_data_width=64)
        self.add_uartbone()
        self.add_ram("memory", origin=_MEMORY, size=_MEMORY_BYTES)
        self.detector = detector = RaceDetector(platform, folder, preset)
        self.bus.add_slave(
            "detector_registers", detector.s_axil, SoCRegion(_REGISTERS, 0x1000, cached=False)
        )
        for name, port in detector.managers.items():
            self.bus.add_master(name, port)
        for name, endpoint in detector.streams.items():
            access = StreamWriter if name.startswith("i_") else StreamReader
            self.add_module(name=name, module=access(endpoint))


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=Path)
    parser.add_argument("preset")
    parser.add_argument("--out", default="build", help="folder of the gateware")
    parser.add_argument("--build", action="store_true", help="run the FPGA tools")
    arguments = parser.parse_args()
    platform = LatticeECP5Platform("LFE5U-85F-6BG381C", _PINS, toolchain="trellis")
    soc = DetectorSoC(platform, arguments.folder, arguments.preset)
    Builder(soc, output_dir=arguments.out, compile_software=False, csr_csv="csr.csv").build(
        run=arguments.build
    )


if __name__ == "__main__":
    main()
