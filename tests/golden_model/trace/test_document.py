"""The page on trace files agrees with the code."""

import re
from pathlib import Path

import pytest

from racetrap.golden_model.events import EventKind
from racetrap.golden_model.trace import Rule, read_trace
from racetrap.golden_model.trace_file.container import MAGIC


@pytest.fixture
def page():
    return (Path(__file__).parents[3] / "docs" / "trace-format.md").read_text(encoding="utf-8")


def test_every_rule_is_explained_once(page):
    rules = page.partition("## Rules")[2]
    assert [int(number) for number in re.findall(r"^(\d+)\. ", rules, re.M)] == list(Rule)


def test_kinds_and_magic(page):
    kinds = dict(re.findall(r"^\| (\d+) \| `(\w+)` \|", page, re.M))
    assert kinds == {str(kind.value): kind.name.lower() for kind in EventKind}
    assert MAGIC.hex(" ").upper() in page


def test_example_is_a_trace_with_every_kind(page, tmp_path):
    example = re.search(r"```\n(racetrap-trace.*?)```", page, re.S)[1]
    path = tmp_path / "example.txt"
    path.write_text(example, encoding="utf-8")
    assert {event.kind for event in read_trace(path)} == set(EventKind)
