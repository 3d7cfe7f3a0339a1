"""Plot of a sweep."""

from docs.site.sweep_plot import plot, results
from racetrap.evaluation.sweep.grid import Point
from racetrap.evaluation.sweep.results import PointResult


def _row(size, percent, misses):
    figures = {"metadata_percent": percent, "misses": misses, "false_reports": 0}
    return PointResult(Point(0, {"granularity": size}, None, ""), figures)


def test_a_line_for_each_granularity_in_one_block_of_markdown():
    svg = plot([_row(4, 200, 1), _row(4, 50, 2), _row(8, 100, 1)])
    assert "4-byte granules" in svg
    assert "8-byte granules" in svg
    assert "16-byte granules" not in svg
    assert "\n\n" not in svg


def test_points_are_measured(tmp_path):
    file = tmp_path / "sweep.toml"
    file.write_text(
        'name = "x"\npreset = "scord"\n[grid]\nratio = [1, 16]\n'
        '[quality]\nworkloads = ["R110"]\nregion_log2 = 10\n'
    )
    rows = results(file)
    assert [row.figures["metadata_percent"] for row in rows] == [200, 12.5]
    for row in rows:
        assert 0 <= row.figures["misses"] <= row.figures["races"], row
