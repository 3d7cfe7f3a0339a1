"""Verilog top of testbenches: the device under test with its handshakes in one vector.

Reading a signal from Python costs about as much as simulating a whole cycle, so the testbench
module combines the signals read in every cycle into a few wide outputs:

* ``flags``: every one-bit port of the device, inputs and outputs alike;
* ``<port>__aw``, ``<port>__ar``, ``<port>__w``: the payload of each channel that an AXI4
  manager port drives.

All ports of the device are present, too, under their own names.  A port that only listens to an
AXI4 bus is completed by the bus signals that it lacks, so that third-party models can use the bus.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from racetrap.golden_model.layout import Layout

#: Name of the testbench module.
TESTBENCH_MODULE = "testbench"

_HIDDEN = {"clk", "rst"}
_CHANNELS = ("aw", "ar", "w")
_HANDSHAKE = ("valid", "ready")
#: Signals that a listener lacks, with their widths: data, of 64 bits.
_UNHEARD = {"wdata": 64, "wstrb": 8, "wlast": 1, "wvalid": 1, "wready": 1, "rdata": 64}


@dataclass(frozen=True)
class Port:
    """A port of the device: ``direction`` is ``input`` or ``output``, ``width`` in bits."""

    direction: str
    width: int


class TestbenchTop:
    """Testbench module around a device.

    Parameters
    ----------
    module : str
        Verilog module of the device.
    ports : mapping of str to Port
        Its ports.

    Attributes
    ----------
    flags : Layout
        The one-bit ports in ``flags``.
    bundles : dict of str to Layout
        The fields of each channel output.
    """

    def __init__(self, module: str, ports: Mapping[str, Port]):
        self._module = module
        self._ports = dict(ports)
        self.flags = Layout({
            name: 1 for name, port in ports.items() if port.width == 1 and name not in _HIDDEN
        })  # fmt: skip
        self.bundles = {
            f"{prefix}__{channel}": Layout(fields)
            for prefix in self._managers()
            for channel in _CHANNELS
            if (fields := self._fields(prefix, channel))
        }

    def _managers(self) -> list[str]:
        """Prefixes of the AXI4 manager ports."""
        return [
            name.removesuffix("__awvalid")
            for name, port in self._ports.items()
            if name.endswith("__awvalid") and port.direction == "output"
        ]

    def _unheard(self) -> dict[str, int]:
        """Signals beside the ports that only listen to an AXI4 bus, with their widths."""
        return {
            name.removesuffix("awready") + field: width
            for name, port in self._ports.items()
            if name.endswith("__awready") and port.direction == "input"
            and self._ports[name.replace("ready", "valid")].direction == "input"
            for field, width in _UNHEARD.items()
        }  # fmt: skip

    def _fields(self, prefix: str, channel: str) -> dict[str, int]:
        """Payload fields of one channel, without the channel's letters: id, addr, data..."""
        start = f"{prefix}__{channel}"
        return {
            name.removeprefix(start): port.width
            for name, port in self._ports.items()
            if name.startswith(start)
            and port.direction == "output"
            and name.removeprefix(start) not in _HANDSHAKE
        }

    def verilog(self, instances: Iterable[str] = ()) -> str:
        """Source of the testbench module, with lines of further instances in it."""
        outputs = {"flags": (self.flags, "")}
        outputs |= {name: (layout, name) for name, layout in self.bundles.items()}
        lines = [f"module {TESTBENCH_MODULE} ("]
        declared = [f"  {port.direction} [{port.width - 1}:0] {name}".replace("[0:0] ", "")
                    for name, port in self._ports.items()]  # fmt: skip
        declared += [
            f"  input [{width - 1}:0] {name}".replace("[0:0] ", "")
            for name, width in self._unheard().items()
        ]
        declared += [
            f"  output [{layout.width - 1}:0] {name}" for name, (layout, _) in outputs.items()
        ]
        lines.append(",\n".join(declared))
        lines.append(");")
        for name, (layout, prefix) in outputs.items():
            parts = ", ".join(f"{prefix}{field}" for field in reversed(list(layout.fields)))
            lines.append(f"  assign {name} = {{{parts}}};")
        lines.append(f"  {self._module} dut (")
        lines.append(",\n".join(f"    .{name}({name})" for name in self._ports))
        lines += ["  );", *instances, "endmodule", ""]
        return "\n".join(lines)

    def public(self) -> Iterator[str]:
        """Verilator control lines: only the ports of the testbench module are public."""
        yield "`verilator_config"
        yield f'public_flat_rw -module "{TESTBENCH_MODULE}" -var "*"'
