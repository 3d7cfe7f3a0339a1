"""Ports of a generated detector, sorted by what they belong to; plain Python, no LiteX.

Everything comes from the description beside the Verilog, so a change of parameters changes
nothing here.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

__all__ = ["Ports", "read_description", "sort_ports", "split_channel", "stream_fields"]

_CHANNELS = ("aw", "ar", "w", "r", "b")
_STREAM = {"payload", "valid", "ready"}


@dataclass
class Ports:
    """Verilog ports by interface and the signal's name in it.

    Parameters
    ----------
    buses : dict
        AXI ports: prefix (``m_axi_metadata__0``) to signal (``awaddr``) to Verilog port.
    streams : dict
        Streams: prefix (``i_transaction__0``) to ``payload``, ``valid``, ``ready``.
    signals : list of str
        All other ports but clock and reset.
    """

    buses: dict[str, dict[str, str]] = field(default_factory=dict)
    streams: dict[str, dict[str, str]] = field(default_factory=dict)
    signals: list[str] = field(default_factory=list)


def read_description(path: Path) -> dict[str, Any]:
    """The description that ``racetrap generate`` wrote."""
    return json.loads(Path(path).read_text(encoding="utf-8"))


def sort_ports(description: dict[str, Any]) -> Ports:
    """Put each port but ``clk`` and ``rst`` where it belongs."""
    names = [name for name in description["ports"] if name not in ("clk", "rst")]
    ports = Ports()
    for name in names:
        prefix, _, last = name.rpartition("__")
        if prefix.startswith(("m_axi", "s_axil")):
            ports.buses.setdefault(prefix, {})[last] = name
        elif last in _STREAM and f"{prefix}__ready" in names:
            ports.streams.setdefault(prefix, {})[last] = name
        else:  # interrupt, status, and trace ports, which have no `ready`
            ports.signals.append(name)
    return ports


def split_channel(signal: str) -> tuple[str, str]:
    """Channel and signal of an AXI name: ``awaddr`` is ``addr`` of ``aw``."""
    channel = next(prefix for prefix in _CHANNELS if signal.startswith(prefix))
    return channel, signal.removeprefix(channel)


def stream_fields(description: dict[str, Any], prefix: str) -> list[tuple[str, int]]:
    """Name and width of each field of a stream's payload, least significant first."""
    word = prefix.split("__")[0].split("_", 1)[1]  # i_transaction__0 carries a `transaction`
    fields = description["layouts"][word]["fields"]
    return [(name, place["width"]) for name, place in fields.items()]
