"""`racetrap fpga`: detectors on FPGA boards."""

from __future__ import annotations

from racetrap.commands.shared.lazy_group import lazy_group

_LINES = {
    "boards": "List the boards, and the presets that fit on each.",
    "build": "Build the bitstream of a preset for a board.",
    "run": "Stream a trace to a board.",
    "selftest": "Test a board against the golden model.",
}


@lazy_group("fpga", _LINES, extras=dict.fromkeys(_LINES, "fpga"))
def command() -> None:
    """Build bitstreams; test boards and run traces on them over a serial port."""
