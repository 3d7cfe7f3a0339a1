"""Text that a terminal or a browser would obey is shown as escapes, wherever it comes from."""

from pathlib import Path

import pytest

from racetrap.evaluation.table import Table
from racetrap.presenters.page import Section, html_page
from racetrap.presenters.printable import printable

_NAME = "a\x1b]0;title\x07\x9b31m\u202eb\ud800é漢"
_SHOWN = "a\\x1b]0;title\\x07\\x9b31m\\u202eb\\ud800é漢"


def test_printable():
    assert printable(_NAME) == _SHOWN
    assert printable("one\n\ttwo") == "one\n\ttwo"
    assert printable("a\rb") == "a\\rb"


@pytest.mark.parametrize(
    "arguments",
    [
        ["check", "{name}.trace"],
        ["generate", "{name}"],
        ["presets", "{name}"],
        ["generate", "scord-tiny", "--set", "{name}=1"],
        ["{name}"],
        ["check", "--{name}"],
        ["trace", "convert", "x", "y", "--to", "{name}"],
        ["sweep", "{name}"],
    ],
)
def test_errors(racetrap, arguments):
    done = racetrap(*(each.format(name=_NAME.replace("\ud800", "")) for each in arguments))
    assert done.exit_code == 2
    assert "\\x1b" in done.stderr
    assert not {"\x1b", "\x07", "\x9b", "\u202e"} & set(done.output)


def test_results(racetrap, racy, tmp_path):
    path = tmp_path / "a\x1b[31m\u202e.trace"
    path.write_bytes(Path(racy).read_bytes())
    done = racetrap("trace", "info", path)
    assert done.exit_code == 0
    assert "a\\x1b[31m\\u202e.trace" in done.output
    assert not {"\x1b", "\u202e"} & set(done.output)


def test_page():
    table = Table("t", f"title {_NAME}", "", ("column",), ((_NAME,),))
    page = html_page(
        _NAME, "introduction", [Section(table, "<svg/>", [_NAME], {_NAME: [_NAME]})],
        command=_NAME, facts={_NAME: _NAME},
    )  # fmt: skip
    assert "<svg/>" in page
    assert not {"\x1b", "\x07", "\x9b", "\u202e", "\ud800"} & set(page)
    assert "\\x1b" in page
