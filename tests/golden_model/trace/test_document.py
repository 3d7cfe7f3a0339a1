"""The page on trace files agrees with the code."""

import re

import pytest

from racetrap.golden_model.events import EventKind
from racetrap.golden_model.trace import Rule, read_trace
from racetrap.golden_model.trace.container.container import MAGIC
from racetrap.golden_model.trace.noncoherent.operations import OperationKind
from racetrap.golden_model.trace.threads.events import MemoryOrder, SyncClass, ThreadEventKind
from tests.support import REPOSITORY


@pytest.fixture
def page():
    return (REPOSITORY / "docs" / "trace-format.md").read_text(encoding="utf-8")


def test_every_rule_is_explained_once(page):
    rules = page.partition("## Rules")[2]
    assert [int(number) for number in re.findall(r"^(\d+)\. ", rules, re.M)] == list(Rule)


@pytest.mark.parametrize(
    ("section", "kinds"),
    [
        ("Events of a GPU", EventKind),
        ("Events of threads", ThreadEventKind),
        ("Operations of a CPU and its accelerators", OperationKind),
    ],
)
def test_kinds(page, section, kinds):
    table = page.partition(f"## {section}\n")[2].partition("\n## ")[0]
    assert dict(re.findall(r"^\| (\d+) \| `(\w+)` \|", table, re.M)) == {
        str(kind.value): kind.name.lower() for kind in kinds
    }


def test_magic(page):
    assert MAGIC.hex(" ").upper() in page


@pytest.mark.parametrize(
    ("system", "kinds"),
    [("scord", EventKind), ("sigrace", ThreadEventKind), ("noncoherent", OperationKind)],
)
def test_example_is_a_trace_with_every_kind(page, tmp_path, system, kinds):
    examples = re.findall(r"```\n(racetrap-trace.*?)```", page, re.S)
    (example,) = [text for text in examples if f"system {system}\n" in text]
    path = tmp_path / "example.txt"
    path.write_text(example, encoding="utf-8")
    assert {event.kind for event in read_trace(path)} == set(kinds)


def test_codes_of_threads(page):
    for codes in (MemoryOrder, SyncClass):
        for code in codes:
            assert f"{code.value} `{code.name.lower()}`" in page
