"""A whole GPU detector as tiles: an SM unit for each SM, a slice unit for each metadata port.

Ref: ScoRD (ISCA'20) Section IV, Fig. 6.
"""

from __future__ import annotations

from abc import abstractmethod
from typing import Any, ClassVar

from amaranth.hdl import Module
from amaranth.lib import wiring

from racetrap.rtl.gpu.system import GpuSystem
from racetrap.rtl.gpu.tile_launch import TileLaunch


class GpuTiles(GpuSystem):
    """A system whose trackers and banks are in tiles, which a launch reaches by levels.

    Ports and registers are those of the system.  A detector gives its units, of which a slice unit
    has the members of a bank but for its memory, and what lies between them.
    """

    sm_unit: ClassVar[type[Any]]

    @abstractmethod
    def _elaborate_unit(self, m: Module, place: int, unit: Any, interleaver: Any) -> None:
        """Connect what an SM unit, the one of that place, sends and receives."""

    def _elaborate_sms(self, m: Module, interleaver: Any) -> Any:
        links = []
        for place, sm in enumerate(self._sms):
            port = self.i_transaction[sm]
            m.submodules[f"tracker_{sm}"] = unit = self.sm_unit(self._params)
            link = self._link(m, f"launch_{sm}", unit)
            wiring.connect(m, wiring.flipped(port), unit.i_transaction)
            m.d.comb += [
                unit.i_sm.eq(sm),
                unit.i_enable.eq(link.o_tile_enable),
                unit.i_hold.eq(link.o_tile_hold),
                link.i_tile_drained.eq(unit.o_drained),
            ]
            self._elaborate_unit(m, place, unit, interleaver)
            links.append(link)
        return links, [], links

    def _elaborate_memory(self, m: Module, number: int, bank: Any) -> None:
        if not self._params.local_bytes:
            outer = self.m_axi_metadata[number]
            wiring.connect(m, bank.m_axi_metadata, wiring.flipped(outer))

    def _to_clear(self, m: Module, number: int, bank: Any) -> Any:
        return self._link(m, f"launch_bank_{number}", bank)

    def _link(self, m: Module, name: str, tile: Any) -> TileLaunch:
        """The middle's end of a tile's levels."""
        m.submodules[name] = link = TileLaunch()
        m.d.comb += [
            tile.i_clear.eq(link.o_tile_clear),
            link.i_tile_cleared.eq(tile.o_cleared),
            link.i_tile_idle.eq(tile.o_idle),
        ]
        return link
