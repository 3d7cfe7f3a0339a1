"""The bus monitor for non-coherent accelerators as a detector: configurations, and data for
generation.

Ref: Young (UBC 2020) Section 3.3.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from racetrap.generators.system import Preset, System, presets_by_name
from racetrap.golden_model.noncoherent.params import Mode, NoncoherentParams
from racetrap.golden_model.noncoherent.state import state_bits
from racetrap.golden_model.trace.noncoherent.noncoherent_trace import NoncoherentTrace
from racetrap.golden_model.trace.noncoherent.operations import OperationKind

if TYPE_CHECKING:
    from amaranth.lib.wiring import Component


_PRESETS = presets_by_name(
    # Sets run out of entries soon: the configuration of most tests.
    Preset(
        "noncoherent-tiny",
        "2 engines, 4 entries a set, lines of two granules of 4 bytes, for tests",
        NoncoherentParams(
            line_bytes=8, granule_bytes=4, engines=2, entries=4, address_bits=16, tag_bits=16,
            report_fifo_depth=4,
        ),
    ),
    # A Cortex-M-class core with one DMA engine.
    Preset("noncoherent", "One engine, byte-exact rules", NoncoherentParams()),
    Preset(
        "noncoherent-thesis", "One engine, the three sets of the thesis",
        NoncoherentParams(mode=Mode.THESIS),
    ),
    # 1 MiB in 8 KiB of block RAM, for programs with many small buffers.
    Preset(
        "noncoherent-bitmap", "The three sets of the thesis, dirty granules in a bitmap",
        NoncoherentParams(mode=Mode.THESIS, window_bytes=1 << 20),
    ),
    # A cache that may fill lines ahead has no set of valid lines.
    Preset(
        "noncoherent-prefetch", "One engine, a cache that may fill any line",
        NoncoherentParams(prefetch=True),
    ),
    Preset("noncoherent-engines4", "Four engines", NoncoherentParams(engines=4)),
    Preset(
        "noncoherent-wide", "16 entries a set, addresses of 48 bits",
        NoncoherentParams(entries=16, address_bits=48),
    ),
    Preset(
        "noncoherent-axi", "One engine, seen on an AXI4 bus: observed overlaps only",
        NoncoherentParams(observes_bus=True),
    ),
)  # fmt: skip

#: 1, 2^n - 1, 2^n and 2^n + 1 are well represented.
_CHOICES: Mapping[str, Sequence[Any]] = {
    "mode": (Mode.STRICT, Mode.STRICT, Mode.THESIS),
    "line_bytes": (1, 2, 4, 8, 32, 64),
    "granule_bytes": (1, 2, 4, 8, 32),
    "engines": (1, 2, 3, 4, 5),
    "prefetch": (False, True),
    "uncached_snoops_cache": (False, False, True),
    "entries": (2, 3, 4, 5, 7, 8, 9),
    "address_bits": (16, 17, 31, 32, 33, 48),
    "tag_bits": (4, 8, 32),
    "report_fifo_depth": (1, 2, 3, 4, 16),
    "window_bytes": (0, 0, 0, 0, 128, 4096, 1 << 16),
    "window_base": (0, 0, 1024),
    "write_through": (False, False, True),
    "observes_bus": (False, False, True),
    "bus_fifo_depth": (2, 3, 4, 5, 16, 1024),
}

#: The first kinds are the method's, the others are overhead of the hardware.
_STATE_KINDS = {
    "dirty": r"\.monitor\.dirty_",
    "valid": r"\.monitor\.valid",
    "stale": r"\.monitor\.stale",
    "dma": r"\.monitor\.(writing|reading)_\d+",
    "monitor": r"\.monitor",
    "row_splitter": r"\.splitter",
    "report_path": r"\.report_path",
    "registers": r"\.registers$|^top$",
}


def _top(params: NoncoherentParams) -> Component:
    # Amaranth is imported only for generation: other users need only the parameters.
    from racetrap.rtl.noncoherent.system import NoncoherentSystem

    return NoncoherentSystem(params)


def _register_parameters(params: NoncoherentParams) -> dict[str, int]:
    # Likewise the compiler of register descriptions.
    from racetrap.rtl.noncoherent.registers import register_parameters

    return register_parameters(params)


NONCOHERENT = System(
    name="noncoherent",
    title="the bus monitor",
    params=NoncoherentParams,
    trace=NoncoherentTrace,
    presets=_PRESETS,
    random_prefix="noncoherent-random",
    choices=_CHOICES,
    top=_top,
    parts={},
    layouts=("operation", "row", "step", "report"),
    traces={"step": "trace"},
    state_kinds=_STATE_KINDS,
    method_bits=state_bits,
    inputs={"operation": "i_operation"},
    register_parameters=_register_parameters,
    codes={"operation.kind": OperationKind, "step.row_kind": OperationKind},
)
