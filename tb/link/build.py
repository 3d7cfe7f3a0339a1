"""Verilator build of the links of the testbench, cached by content."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from racetrap.sim.content_cache import cache_folder
from racetrap.sim.cosim.verilator.cocotb_build import BuiltModel, build_component, build_key
from racetrap.tb.link import loopback
from racetrap.tb.link.loopback import LinkLoops, LoopParams

__all__ = ["build_links"]

_MODULE = "link"


@dataclass(frozen=True)
class _LinkModel(BuiltModel):
    """A simulator of links."""

    @property
    def facts(self) -> dict[str, Any]:
        links: Any = self.params
        return {"links": [asdict(link) for link in links]}


def build_links(links: Sequence[LoopParams]) -> BuiltModel:
    """Verilate ``LinkLoops``, or find it in the cache.

    Parameters
    ----------
    links : sequence of LoopParams
        The links.

    Raises
    ------
    BuildError
        If Verilator or the C++ compiler fails.
    """
    files = [Path(__file__), Path(loopback.__file__)]
    key = build_key([asdict(link) for link in links], files=files)
    folder = cache_folder() / "verilator" / f"{_MODULE}-{key}"
    params: Any = tuple(links)
    model = _LinkModel(_MODULE, params, folder, waves=None)
    build_component(model, lambda: LinkLoops(links))
    return model
