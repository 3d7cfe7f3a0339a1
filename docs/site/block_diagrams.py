"""Block diagrams of the detectors, drawn from the elaborated designs."""

from __future__ import annotations

from collections import defaultdict
from functools import cache
from typing import NamedTuple

from amaranth.hdl._nir import Netlist

from docs.site.hierarchy import OUTSIDE, Diagram, Link, block_diagram
from docs.site.svg import figure, text
from racetrap.generators.presets import PRESETS
from racetrap.generators.structure import netlist_of
from racetrap.generators.systems import system_of

_WIDTH, _HEIGHT, _ACROSS, _DOWN, _MARGIN = 128, 38, 74, 26, 46


class _Place(NamedTuple):
    """Upper left corner of a block."""

    x: float
    y: float


def _layers(diagram: Diagram) -> dict[str, int]:
    """Column of each block that has a stream: one behind the last from which a stream comes.

    A stream back to a block that has been passed does not count.
    """
    after = defaultdict(list)
    for link in diagram.links:
        if link.is_stream and OUTSIDE not in (link.source, link.target):
            after[link.source].append(link.target)
    fed = {target for targets in after.values() for target in targets}
    layers: dict[str, int] = {}

    def visit(block: str, layer: int, way: tuple[str, ...]) -> None:
        if block not in way and layers.get(block, -1) < layer:
            layers[block] = layer
            for target in after[block]:
                visit(target, layer + 1, (*way, block))

    for block in (*(each for each in after if each not in fed), *after):
        if block not in layers:
            visit(block, 0, ())
    return layers


def _places(diagram: Diagram) -> dict[str, _Place]:
    """Blocks with streams in columns from left to right, the others in a row below them."""
    layers = _layers(diagram)
    columns = defaultdict(list)
    for block in diagram.blocks:
        if block in layers:
            columns[layers[block]].append(block)
    others = [block for block in diagram.blocks if block not in layers]
    deepest = max(map(len, columns.values()), default=0)
    places = {
        block: _Place(
            _MARGIN + column * (_WIDTH + _ACROSS),
            _MARGIN + (row + (deepest - len(blocks)) / 2) * (_HEIGHT + _DOWN),
        )
        for column, blocks in columns.items()
        for row, block in enumerate(blocks)
    }
    below = _MARGIN + deepest * (_HEIGHT + _DOWN) + (_DOWN if deepest else 0)
    return places | {
        block: _Place(_MARGIN + column * (_WIDTH + _ACROSS), below)
        for column, block in enumerate(others)
    }


def _curve(source: _Place, target: _Place) -> str:
    """From right to left side; in a column straight down or up; back in an arc above both."""
    middle, half = _WIDTH / 2, _HEIGHT / 2
    if target.x > source.x:
        x, y = source.x + _WIDTH, source.y + half
        bend = (target.x - x) / 2
        return (
            f"M{x:g} {y:g}C{x + bend:g} {y:g} {target.x - bend:g} {target.y + half:g} "
            f"{target.x:g} {target.y + half:g}"
        )
    if target.x == source.x:
        is_down = target.y > source.y
        x = source.x + middle + (12 if is_down else -12)
        return f"M{x:g} {source.y + _HEIGHT * is_down:g}V{target.y + _HEIGHT * (not is_down):g}"
    x, y, end = source.x + middle + 12, source.y, target.x + middle - 12
    return f"M{x:g} {y:g}C{x:g} {y - 34:g} {end:g} {target.y - 34:g} {end:g} {target.y:g}"


def _line(link: Link, places: dict[str, _Place]) -> str:
    """The arrow of a link; one from or to outside is a stub at the side of its block."""
    if link.source == OUTSIDE:
        x, y = places[link.target]
        way = f"M{x - 30:g} {y + 10:g}h30"
    elif link.target == OUTSIDE:
        x, y = places[link.source]
        way = f"M{x + _WIDTH:g} {y + _HEIGHT - 10:g}h30"
    else:
        way = _curve(places[link.source], places[link.target])
    kind = ' class="strong"' if link.is_stream else ""
    return f'<path{kind} d="{way}" marker-end="TIP"/>'


def draw(title: str, diagram: Diagram) -> str:
    """A diagram as a figure: streams and channels of buses thick, other wires thin."""
    places = _places(diagram)
    parts = [_line(link, places) for link in diagram.links]
    for block, place in places.items():
        parts.append(f'<rect x="{place.x:g}" y="{place.y:g}" width="{_WIDTH}" height="{_HEIGHT}"/>')
        parts.append(text(place.x + _WIDTH / 2, place.y + _HEIGHT / 2 + 4, block))
    width = max(place.x for place in places.values()) + _WIDTH + _MARGIN
    height = max(place.y for place in places.values()) + _HEIGHT + _MARGIN / 2
    return figure(title, width, height, parts)


@cache
def _design(preset: str) -> Netlist:
    params = PRESETS[preset].params
    return netlist_of(system_of(params).top(params))


def diagram_of(title: str, preset: str, path: str = "top") -> str:
    """Figure of a module of a preset's design."""
    return draw(title, block_diagram(_design(preset), path))
