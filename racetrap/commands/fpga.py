"""`racetrap fpga`: detectors on FPGA boards."""

from __future__ import annotations

from racetrap.commands.shared.lazy_group import lazy_group

_LINES = {
    "boards": "List the boards, and the presets that fit on each.",
    "build": "Build the bitstream of a preset for a board.",
    "run": "Stream a trace to a board.",
}


@lazy_group("fpga", _LINES)
def command() -> None:
    """Build bitstreams for boards, and run traces on a board over its serial port."""
