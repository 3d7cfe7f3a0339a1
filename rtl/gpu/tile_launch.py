"""Launches across tiles: levels between the middle and a tile, and both of their ends.

A level may be registered on its way any number of times.
"""

from __future__ import annotations

from typing import Any

from amaranth.hdl import Module, Signal, ValueLike
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out


class TileClear(wiring.Component):
    """A tile's end: a level clears what is in the tile, by a pulse.

    Members
    -------
    i_level, o_done : ``In(1)``, ``Out(1)``
        Clear; the tile is clear.  A four-phase handshake: ``o_done`` falls after ``i_level``.
    i_idle : ``In(1)``
        What is in the tile may be cleared.
    o_clear : ``Out(1)``
        Pulse for it.
    i_busy : ``In(1)``
        It is clearing; expected from the second cycle after ``o_clear`` on.
    """

    def __init__(self):
        super().__init__({
            "i_level": In(1), "o_done": Out(1), "i_idle": In(1), "o_clear": Out(1),
            "i_busy": In(1),
        })  # fmt: skip

    def elaborate(self, platform):
        m = Module()
        with m.FSM():
            with m.State("IDLE"):
                with m.If(self.i_level & self.i_idle):
                    m.d.comb += self.o_clear.eq(1)
                    m.next = "START"
            with m.State("START"):
                m.next = "WAIT"
            with m.State("WAIT"):
                with m.If(~self.i_busy):
                    m.next = "DONE"
            with m.State("DONE"):
                m.d.comb += self.o_done.eq(1)
                with m.If(~self.i_level):
                    m.next = "IDLE"
        return m


def clear_by_level(m: Module, tile: Any, part: Any) -> None:
    """Let a tile's level clear a part of it, which has ``i_clear``, ``o_idle`` and ``o_busy``."""
    m.submodules.clear = clear = TileClear()
    m.d.comb += [
        part.i_clear.eq(clear.o_clear),
        clear.i_level.eq(tile.i_clear),
        clear.i_idle.eq(part.o_idle),
        clear.i_busy.eq(part.o_busy),
        tile.o_cleared.eq(clear.o_done),
    ]


def send_at_most(m: Module, most: int, source: Any, sink: Any, arrived: ValueLike) -> Signal:
    """Pass a stream on while fewer than ``most`` of its payloads are on their way: have left, and
    have no pulse of ``arrived`` yet.  Gives how many are."""
    sent, may_send = Signal(range(most + 1), name="sent"), Signal(name="may_send")
    m.d.comb += [
        may_send.eq(sent != most),
        sink.payload.eq(source.payload),
        sink.valid.eq(source.valid & may_send),
        source.ready.eq(sink.ready & may_send),
    ]
    m.d.sync += sent.eq(sent + (sink.valid & sink.ready) - arrived)
    return sent


class TileLaunch(wiring.Component):
    """The middle's end: a tile as launch control sees a part without a way to it.

    Members
    -------
    i_hold, o_closed : ``In(1)``, ``Out(1)``
        Let nothing in; nothing is let in, and what was let in has left the tile and has arrived.
    i_clear, o_busy : ``In(1)``, ``Out(1)``
        Pulse: clear the tile; that lasts.
    i_enable, o_idle : ``In(1)``, ``Out(1)``
        As of the tile.
    o_tile_hold, i_tile_drained, o_tile_clear, i_tile_cleared, o_tile_enable, i_tile_idle
        The levels.
    """

    def __init__(self):
        super().__init__({
            "i_hold": In(1), "o_closed": Out(1), "i_clear": In(1), "o_busy": Out(1),
            "i_enable": In(1), "o_idle": Out(1),
            "o_tile_hold": Out(1), "i_tile_drained": In(1), "o_tile_clear": Out(1),
            "i_tile_cleared": In(1), "o_tile_enable": Out(1), "i_tile_idle": In(1),
        })  # fmt: skip

    def elaborate(self, platform):
        m = Module()
        was_open, clearing = Signal(), Signal()
        m.d.comb += [
            self.o_tile_hold.eq(self.i_hold),
            # A level may still be that of the launch before.
            self.o_closed.eq(self.i_tile_drained & was_open),
            self.o_tile_clear.eq(clearing),
            self.o_busy.eq(clearing | self.i_tile_cleared),
            self.o_tile_enable.eq(self.i_enable),
            self.o_idle.eq(self.i_tile_idle & ~self.o_busy),
        ]
        m.d.sync += was_open.eq((was_open & self.i_hold) | ~self.i_tile_drained)
        with m.If(self.i_clear):
            m.d.sync += clearing.eq(1)
        with m.Elif(self.i_tile_cleared):
            m.d.sync += clearing.eq(0)
        return m
