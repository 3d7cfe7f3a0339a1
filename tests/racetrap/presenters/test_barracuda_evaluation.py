"""The page of BARRACUDA's evaluation: its tables and both figures."""

from racetrap.evaluation.barracuda.tables import make_tables, problems_of
from racetrap.presenters.barracuda_evaluation import page_of
from tests.support.gpu.barracuda_results import KERNELS, MEASURED
from tests.support.pages.evaluation_page import Inventory


def page(measured):
    tables = make_tables(measured, KERNELS)
    return page_of(measured, tables, problems_of(measured, KERNELS), {"seed": 7}, "racetrap <x>")


def test_figures_stand_below_their_tables():
    text = page([MEASURED])
    found = Inventory(text)
    assert found.fetched == []
    assert text.count("<svg") == 2
    for name, plot in (("figure-9", "Static instructions, %"), ("figure-10", "Checked over")):
        assert found.rows[f"table-{name}"] == 2
        assert plot in text[text.index(f'id="table-{name}"') :]
    assert "racetrap &lt;x&gt;" in text


def test_without_benchmarks_there_is_no_figure():
    text = page([])
    assert "<svg" not in text
    assert Inventory(text).rows["table-small-kernels"] > 1
