"""`racetrap vortex`: detectors beside an open GPU."""

from __future__ import annotations

from racetrap.commands.shared.lazy_group import lazy_group

_LINES = {"run": "Run a C kernel on simulated cores of the GPU beside a detector."}


@lazy_group("vortex", _LINES, extras=dict.fromkeys(_LINES, "hardware"))
def command() -> None:
    """Run kernels on the Verilog of Vortex, an open GPU, with a generated detector beside it."""
