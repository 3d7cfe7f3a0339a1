"""Tables as plain data."""

from racetrap.evaluation.table import Table


def test_json():
    rows = (("a", None), (2.5, 2))
    table = Table("name", "title", "", ("one", "two"), rows)
    assert table.to_json() == [{"one": "a", "two": None}, {"one": 2.5, "two": 2}]
