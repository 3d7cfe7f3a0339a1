"""A generated detector as a LiteX module: registers, memory ports, streams, interrupt."""

from __future__ import annotations

from pathlib import Path

from detector_ports import read_description, sort_ports, split_channel, stream_fields
from litex.gen import ClockSignal, Instance, LiteXModule, ResetSignal, Signal
from litex.soc.interconnect import stream
from litex.soc.interconnect.axi import AXIInterface, AXILiteInterface
from litex.soc.interconnect.csr import CSRStatus, CSRStorage
from litex.soc.interconnect.csr_eventmanager import EventManager, EventSourceLevel
from migen import If

__all__ = ["RaceDetector", "StreamReader", "StreamWriter"]


class RaceDetector(LiteXModule):
    """Instance of generated Verilog.

    Parameters
    ----------
    platform : GenericPlatform
        Gets the Verilog file.
    folder : Path
        Where ``racetrap generate`` wrote its files.
    preset : str
        Name of the files.

    Attributes
    ----------
    s_axil : AXILiteInterface
        Registers, for ``soc.bus.add_slave`` with a region of 4 KiB.
    managers : dict of str to AXIInterface
        Memory ports, for ``soc.bus.add_master``; their names as in Verilog.
    streams : dict of str to stream.Endpoint
        Streams, fields by their names; their names as in Verilog.
    signals : dict of str to Signal
        Every other output.
    ev : EventManager
        Source ``report`` is the detector's interrupt line.
    """

    def __init__(self, platform, folder: Path, preset: str):
        platform.add_source(str(Path(folder) / f"{preset}.v"))
        self._description = read_description(Path(folder) / f"{preset}.json")
        self._connections = {"i_clk": ClockSignal("sys"), "i_rst": ResetSignal("sys")}
        self.managers, self.streams, self.signals = {}, {}, {}
        ports = sort_ports(self._description)
        for prefix, signals in ports.buses.items():
            self._add_bus(prefix, signals)
        for prefix, signals in ports.streams.items():
            self._add_stream(prefix, signals)
        for name in ports.signals:
            self.signals[name] = Signal(self._width(name))
            self._connect(name, self.signals[name])
        self.ev = EventManager()
        self.ev.report = EventSourceLevel()
        self.ev.finalize()
        self.comb += self.ev.report.trigger.eq(self.signals["irq"])
        self.specials += Instance(self._description["module"], **self._connections)

    def _width(self, name: str) -> int:
        return self._description["ports"][name]["width"]

    def _connect(self, name: str, value) -> None:
        direction = self._description["ports"][name]["direction"]
        self._connections[f"{direction[0]}_{name}"] = value

    def _add_bus(self, prefix: str, signals: dict[str, str]) -> None:
        if prefix == "s_axil":
            # LiteX hands on the whole address of the bus; the region is aligned to its size.
            self.s_axil = bus = AXILiteInterface(data_width=32, address_width=32)
        else:
            self.managers[prefix] = bus = AXIInterface(
                data_width=self._width(signals["wdata"]),
                address_width=self._width(signals["awaddr"]),
                id_width=self._width(signals["awid"]),
            )
        for signal, name in signals.items():
            channel, member = split_channel(signal)
            value = getattr(getattr(bus, channel), member)
            self._connect(name, value[: self._width(name)] if member == "addr" else value)

    def _add_stream(self, prefix: str, signals: dict[str, str]) -> None:
        self.streams[prefix] = endpoint = stream.Endpoint(stream_fields(self._description, prefix))
        self._connect(signals["payload"], endpoint.payload.raw_bits())
        self._connect(signals["valid"], endpoint.valid)
        self._connect(signals["ready"], endpoint.ready)


class StreamWriter(LiteXModule):
    """Registers that put records into a stream: write ``payload``, then ``push``.

    ``busy`` is 1 until the record has been taken.
    """

    def __init__(self, endpoint: stream.Endpoint):
        payload = endpoint.payload.raw_bits()
        self.payload = CSRStorage(len(payload))
        self.push = CSRStorage()
        self.busy = CSRStatus()
        self.comb += [payload.eq(self.payload.storage), self.busy.status.eq(endpoint.valid)]
        self.sync += If(self.push.re, endpoint.valid.eq(1)).Elif(
            endpoint.ready, endpoint.valid.eq(0)
        )


class StreamReader(LiteXModule):
    """Registers that take records out of a stream: read ``payload`` if ``valid``, write ``pop``."""

    def __init__(self, endpoint: stream.Endpoint):
        payload = endpoint.payload.raw_bits()
        self.payload = CSRStatus(len(payload))
        self.valid = CSRStatus()
        self.pop = CSRStorage()
        self.comb += [
            self.payload.status.eq(payload),
            self.valid.status.eq(endpoint.valid),
            endpoint.ready.eq(self.pop.re),
        ]
