"""Results: a table for notebooks and pandas, and the error without pandas."""

import pytest

from racetrap import api
from racetrap.calls.results import Result
from tests.support import REPOSITORY

_UNLOCKED = REPOSITORY / "docs" / "examples" / "unlocked-sum.trace"


class _Rows(Result):
    def _title(self):
        return "a < b"

    def _rows(self):
        return [{"place": "<x>", "count": 1234}, {"place": "y"}] + [{"place": "z"}] * 20


def test_a_notebook_shows_rows_and_what_is_printed():
    shown = _Rows(document={}, text="1 < 2\n")._repr_html_()
    assert shown.startswith("<p><strong>a &lt; b</strong></p>")
    assert "<tr><td>&lt;x&gt;</td><td>1,234</td></tr><tr><td>y</td><td>–</td></tr>" in shown
    assert "The first 20 of 22 rows." in shown
    assert shown.endswith("<pre>1 &lt; 2\n</pre></details>")
    assert repr(_Rows(document={})) == "<a < b>"


def test_rows_of_a_check_have_code_and_place(monkeypatch):
    monkeypatch.chdir(REPOSITORY)
    result = api.check(_UNLOCKED, exact=True)
    (row,) = result.rows
    assert (row["code"], row["place"], row["instances"]) == ("RT201", "sum.c:20", 1)
    assert repr(result) == f"<{_UNLOCKED}: 1 race>"


def test_a_table_for_pandas():
    pandas = pytest.importorskip("pandas", reason="Package pandas is not installed")
    table = _Rows(document={}).to_pandas()
    assert isinstance(table, pandas.DataFrame)
    assert list(table.columns) == ["place", "count"]
    assert len(table) == 22


def test_without_pandas(without):
    without("pandas")
    with pytest.raises(ImportError, match=r"^Package pandas must be installed .* 'racetrap\[note"):
        _Rows(document={}).to_pandas()
