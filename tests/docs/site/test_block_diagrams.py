"""Drawing of block diagrams."""

import re
from xml.etree import ElementTree

from docs.site.block_diagrams import diagram_of, draw
from docs.site.hierarchy import OUTSIDE, Diagram, Link

_DIAGRAM = Diagram(
    ("a", "b", "c", "control"),
    (
        Link(OUTSIDE, "a", True), Link("a", "b", True), Link("b", "c", True),
        Link("c", "a", True), Link("control", "b", False), Link("c", OUTSIDE, True),
    ),
)  # fmt: skip


def _boxes(svg):
    """Upper left corner of each block by name."""
    pattern = r'<rect x="([\d.]+)" y="([\d.]+)"[^>]*>\s*<text[^>]*>([^<]+)<'
    return {name: (float(x), float(y)) for x, y, name in re.findall(pattern, svg)}


def test_streams_go_from_left_to_right_and_control_lies_below():
    boxes = _boxes(draw("Title", _DIAGRAM))
    assert boxes["a"][0] < boxes["b"][0] < boxes["c"][0]
    assert boxes["a"][1] == boxes["b"][1] == boxes["c"][1] < boxes["control"][1]


def test_every_link_is_an_arrow_and_streams_are_thick():
    svg = draw("Title", _DIAGRAM)
    assert svg.count("marker-end") == len(_DIAGRAM.links)
    assert svg.count('class="strong"') == 5


def test_a_figure_is_well_formed_and_one_block_of_markdown():
    svg = draw("A < B", _DIAGRAM)
    assert ElementTree.fromstring(svg).tag == "figure"
    assert "\n\n" not in svg
    assert "A &lt; B" in svg


def test_a_design():
    boxes = _boxes(diagram_of("Tracker", "scord-tiny", "top.tracker_0"))
    assert {"splitter", "lookup", "packet", "lock_tables"} <= set(boxes)
    assert boxes["splitter"][0] < boxes["lookup"][0]
