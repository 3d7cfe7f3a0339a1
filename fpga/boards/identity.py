"""Name of a device's configuration."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from racetrap.fpga.boards.table import BOARDS, board_params
from racetrap.fpga.host.client import LinkError
from racetrap.generators.presets import PRESETS
from racetrap.generators.system import Params
from racetrap.golden_model.configuration import configuration_hash
from racetrap.golden_model.link.hello import Hello


def identify(hello: Hello) -> tuple[str, Params]:
    """Name and parameters of the configuration that a device reports.

    Boards with equal parameters cannot be distinguished, so all of them are named.

    Raises
    ------
    LinkError
        If it is neither a board's nor a preset.
    """
    for name, params in _known():
        if configuration_hash(params) == hello.configuration:
            return name, params
    raise LinkError(
        "Device must have the configuration of a board or preset if none is named, "
        f"not {hello.configuration:#010x}"
    )


def _known() -> Iterator[tuple[str, Params]]:
    boards: dict[tuple[str, Params], list[str]] = {}
    for board in BOARDS.values():
        for preset in board.settings:
            boards.setdefault((preset, board_params(board, preset)), []).append(board.name)
    for (preset, params), names in boards.items():
        yield f"{preset} on {' or '.join(names)}", params
    for preset, known in PRESETS.items():
        yield preset, replace(known.params, trace_port=False)
