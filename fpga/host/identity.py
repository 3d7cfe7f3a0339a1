"""Which configuration a device has, of those that people have names for."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from racetrap.fpga.boards.table import BOARDS, board_params
from racetrap.fpga.host.client import LinkError
from racetrap.generators.presets import PRESETS
from racetrap.generators.system import Params
from racetrap.golden_model.link.configuration import configuration_hash
from racetrap.golden_model.link.frames import Hello

__all__ = ["identify"]


def _known() -> Iterator[tuple[str, Params]]:
    for board in BOARDS.values():
        for preset in board.settings:
            yield f"{preset} on {board.name}", board_params(board, preset)
    for preset, known in PRESETS.items():
        yield preset, replace(known.params, trace_port=False)


def identify(hello: Hello) -> tuple[str, Params]:
    """Name and parameters of the configuration that a device says it has.

    Raises
    ------
    LinkError
        If it is no board's own and no preset.
    """
    for name, params in _known():
        if configuration_hash(params) == hello.configuration:
            return name, params
    raise LinkError(
        "Device must have the configuration of a board or preset if none is named, "
        f"not {hello.configuration:#010x}"
    )
