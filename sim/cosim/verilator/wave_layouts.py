"""Layouts of waves for the viewers GTKWave and Surfer: signals to show, and their formats.

``gtkwave FILE FILE.gtkw`` and ``surfer --command-file FILE.sucl FILE`` open waves with them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from racetrap.sim.cosim.verilator.testbench_top import TESTBENCH_MODULE
from racetrap.sim.cosim.verilator.wave_views import WaveView

#: GTKWave's flags of what follows, in hexadecimal.
_BEGIN_GROUP, _END_GROUP = 0x80_0200, 0x100_0200
_BIT, _HEX, _CODE = 0x28, 0x22, 0x1_0000_0020
_CLOCKING = ("clk", "rst")


def wave_layouts(name: str, views: Sequence[WaveView]) -> dict[str, str]:
    """Texts of the layouts by name of their file.

    Parameters
    ----------
    name : str
        Name of the file of waves.
    views : sequence of WaveView
        Streams to show besides clock and reset, in this order.
    """
    return {
        f"{name}.gtkw": "".join(f"{line}\n" for line in _gtkwave(name, views)),
        f"{name}.sucl": "".join(f"{line}\n" for line in _surfer(views)),
    }


def _gtkwave(name: str, views: Sequence[WaveView]) -> Iterator[str]:
    yield f'[dumpfile] "{name}"'
    yield f"@{_BIT:x}"
    for signal in _CLOCKING:
        yield f"{TESTBENCH_MODULE}.{signal}"
    for view in views:
        yield f"@{_BEGIN_GROUP:x}"
        yield f"-{view.name}"
        yield f"@{_BIT:x}"
        yield f"{TESTBENCH_MODULE}.{view.name}.valid"
        for field, (_, width) in view.fields.items():
            yield f"@{_CODE if field in view.codes else _BIT if width == 1 else _HEX:x}"
            bits = "" if width == 1 and field not in view.codes else f"[{width - 1}:0]"
            yield f"{TESTBENCH_MODULE}.{view.name}.{field}{bits}"
        yield f"@{_END_GROUP:x}"
        yield f"-{view.name}"


def _surfer(views: Sequence[WaveView]) -> Iterator[str]:
    for signal in _CLOCKING:
        yield f"variable_add {TESTBENCH_MODULE}.{signal}"
    for view in views:
        yield f"divider_add {view.name}"
        for signal in ("valid", *view.fields):
            yield f"variable_add {TESTBENCH_MODULE}.{view.name}.{signal}"
    yield "zoom_fit"
