"""Cost figures of the papers, and the same counted from parameters.

Ref: ScoRD (ISCA'20) Sections IV-B, IV-C; SigRace (ISCA'09) Section 5.5.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from racetrap.generators.system import Params
from racetrap.generators.systems import system_of
from racetrap.golden_model.noncoherent.params import NoncoherentParams
from racetrap.golden_model.scord.params import ScordParams
from racetrap.golden_model.scord.state import metadata_overhead
from racetrap.golden_model.scord.state import state_bits as scord_bits
from racetrap.golden_model.sigrace.params import Form, SigraceParams
from racetrap.golden_model.sigrace.state import core_state_bits, thread_state_bits

__all__ = ["PAPERS", "Figure", "Paper", "paper_of"]

_BYTE = 8
_KILOBYTE = 1024


@dataclass(frozen=True)
class Figure:
    """A figure of a paper.

    Parameters
    ----------
    name, unit : str
        What it is.
    value : float
        What the paper says.
    reference : str
        Where it says so.
    count : callable
        The same, given parameters.
    decimals : int
        Decimals that the paper gives.
    """

    name: str
    unit: str
    value: float
    reference: str
    count: Callable[[Any], float]
    decimals: int = 0

    def counted(self, params: Params) -> float:
        """The figure for ``params``, unrounded."""
        return self.count(params)

    def agrees(self, params: Params) -> bool:
        """Whether the figure for ``params`` is the paper's, to the decimals that it gives."""
        return round(self.count(params), self.decimals) == self.value


@dataclass(frozen=True)
class Paper:
    """A paper's cost figures.

    Parameters
    ----------
    title : str
        How it is cited.
    params : Params
        The configuration that its figures are for.
    figures : tuple of Figure
        What it says.
    """

    title: str
    params: Params
    figures: tuple[Figure, ...]


def _scord_sm_bytes(params: ScordParams) -> float:
    bits = scord_bits(params)
    return (bits["barrier_ids"] + bits["lock_tables"]) / params.sm_count / _BYTE


_SCORD = Paper(
    "ScoRD (ISCA'20)",
    ScordParams(),
    (
        Figure("barrier ids of an SM", "bits", 64, "Section IV-C",
               lambda params: scord_bits(params)["barrier_ids"] / params.sm_count),
        Figure("lock table of a warp", "bits", 36, "Section IV-C",
               lambda params: scord_bits(params)["lock_tables"]
               / (params.sm_count * params.warps_per_sm)),
        Figure("state of an SM", "bytes", 152, "Section IV-C", _scord_sm_bytes),
        Figure("fence files", "bytes", 720, "Section IV-C",
               lambda params: scord_bits(params)["fence_files"] / _BYTE),
        Figure("state in all", "KB", 2.9, "Section IV-C",
               lambda params: sum(scord_bits(params).values()) / _BYTE / _KILOBYTE, decimals=1),
        Figure("metadata for the data", "%", 12.5, "Section IV-B",
               lambda params: 100 * metadata_overhead(params), decimals=1),
    ),
)  # fmt: skip

_SIGRACE = Paper(
    "SigRace (ISCA'09)",
    # The paper keeps signatures at the cores; the preset keeps the sets before hashing.
    SigraceParams(form=Form.HASHED),
    (
        Figure("signature", "bits", 2048, "Section 5.5", lambda params: params.signature_bits),
        Figure("timestamp", "bits", 160, "Section 5.5", lambda params: params.timestamp_width),
        Figure("RDM, a processor", "bytes", 8512, "Section 5.5",
               lambda params: thread_state_bits(params) / _BYTE),
        Figure("core, a processor", "bytes", 808, "Section 5.5",
               lambda params: sum(core_state_bits(params).values()) / _BYTE),
    ),
)  # fmt: skip

#: The thesis builds no hardware.
_NONCOHERENT = Paper("Young (UBC 2020)", NoncoherentParams(), ())

#: Papers by the name of the detector.
PAPERS: Mapping[str, Paper] = MappingProxyType({
    "scord": _SCORD, "sigrace": _SIGRACE, "noncoherent": _NONCOHERENT,
})  # fmt: skip


def paper_of(params: Params) -> Paper:
    """The paper of the detector that parameters belong to."""
    return PAPERS[system_of(params).name]
