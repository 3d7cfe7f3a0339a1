"""Boards, and what fits on them.

Ref: Lattice FPGA-DS-02012 (ECP5: 208 block RAMs of 18 Kbit on the 85F); Lattice FPGA-DS-02029
(iCE40: 32 block RAMs of 4 Kbit on the HX8K).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from importlib import import_module
from types import MappingProxyType
from typing import Any

from racetrap.generators.presets import find_preset, with_settings
from racetrap.generators.system import Params
from racetrap.golden_model.checks import unknown_name

#: Metadata on the chip, in 32 of the 85F's block RAMs.
_EBR_64K = ("local_bytes=65536",)
_ECP5_85 = {
    **dict.fromkeys(("scord-local", "causality-tiny", "hirace-tiny"), _EBR_64K),
    "sigrace-tiny": (), "noncoherent": (),
}  # fmt: skip
_HX8K = (
    "blocks_per_sm=2", "warps_per_sm=4", "ratio=16", "lock_table_depth=2", "fence_id_bits=4",
    "barrier_id_bits=4", "address_bits=17", "pc_bits=16", "outstanding=4",
    "packet_fifo_depth=2", "report_fifo_depth=2", "sm_count=1",
)  # fmt: skip
#: The three sets of the thesis, of two entries each, for one engine.
_HX8K_MONITOR = ("mode=thesis", "engines=1", "entries=2", "tag_bits=4", "report_fifo_depth=2")


@dataclass(frozen=True)
class Board:
    """A board and its settings for detectors.

    Parameters
    ----------
    name : str
        Name on the command line.
    summary : str
        Description, in one line.
    platform : str
        Class of amaranth-boards, as ``module:class``.
    family : str
        ``ecp5`` or ``ice40``.
    device : str
        The FPGA.
    clock_mhz : float
        System clock, after the PLL.
    baud : int
        Bits a second of the host link; divides the clock.
    lights : tuple of (str, int, str)
        Resource, number and signal in it of each light (no signal: the resource itself).
    settings : mapping of str to tuple of str
        Presets that fit, with the settings needed.
    core : bool
        Whether ScoRD is reduced to one tracker and one bank, since a whole system does not fit.
    """

    name: str
    summary: str
    platform: str
    family: str
    device: str
    clock_mhz: float
    baud: int
    lights: tuple[tuple[str, int, str], ...]
    settings: Mapping[str, tuple[str, ...]]
    core: bool = False

    @property
    def divisor(self) -> int:
        """Clock cycles of a bit on the UART."""
        return round(self.clock_mhz * 1e6) // self.baud

    def make_platform(self) -> Any:
        """A new Amaranth platform, which can be used for one build only."""
        module, name = self.platform.split(":")
        return getattr(import_module(module), name)()


def _leds(count: int) -> tuple[tuple[str, int, str], ...]:
    return tuple(("led", number, "") for number in range(count))


#: Every board by name.
BOARDS: Mapping[str, Board] = MappingProxyType({
    board.name: board
    for board in (
        Board(
            "ulx3s-85f", "Radiona ULX3S with ECP5-85F",
            "amaranth_boards.ulx3s:ULX3S_85F_Platform", "ecp5", "LFE5U-85F",
            clock_mhz=48, baud=3_000_000, lights=_leds(4),
            settings=_ECP5_85,
        ),
        Board(
            "ecpix5-85", "LambdaConcept ECPIX-5 with ECP5-85F",
            "amaranth_boards.ecpix5:ECPIX585Platform", "ecp5", "LFE5UM5G-85F",
            clock_mhz=48, baud=3_000_000,
            lights=tuple(
                ("rgb_led", number, colour) for number, colour in enumerate(("g", "b", "r", "r"))
            ),
            settings=_ECP5_85,
        ),
        Board(
            "ice40-hx8k", "Lattice iCE40-HX8K breakout board",
            "amaranth_boards.ice40_hx8k_b_evn:ICE40HX8KBEVNPlatform", "ice40", "iCE40HX8K",
            clock_mhz=24, baud=3_000_000, lights=_leds(4),
            settings={"scord-local": _HX8K, "noncoherent-tiny": _HX8K_MONITOR}, core=True,
        ),
    )
})  # fmt: skip


def find_board(name: str) -> Board:
    """The board called ``name``.

    Raises
    ------
    ValueError
        If there is none.
    """
    if name not in BOARDS:
        raise ValueError(unknown_name("board", name, BOARDS))
    return BOARDS[name]


def board_params(board: Board, preset: str, settings: Iterable[str] = ()) -> Params:
    """Parameters of a preset on a board: the board's settings, then the user's.

    A user's setting replaces the board's; there is no trace port.

    Raises
    ------
    ValueError
        If there is no such preset, or a setting is wrong.
    """
    params = find_preset(preset).params
    wanted = list(settings)
    given = {setting.partition("=")[0] for setting in wanted}
    fitting = [
        setting
        for setting in board.settings.get(preset, ())
        if setting.partition("=")[0] not in given
    ]
    return replace(with_settings(params, [*fitting, *wanted]), trace_port=False)
