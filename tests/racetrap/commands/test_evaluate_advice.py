"""`racetrap evaluate advice`: a table and JSON."""

import json


def test_one_program(racetrap):
    result = racetrap(
        "--jobs", 1, "evaluate", "advice", "stream_clustering", "--budget", 1,
        "--json", "-",
    )  # fmt: skip
    document = json.loads(result.stdout)
    assert (document["runs"], document["seed"]) == (1, 1)
    assert document["verdicts"] == {"the added fence alone": 1}
    (row,) = document["tables"]["advice"]
    assert (row["program"], row["verdict"]) == ("stream_clustering", "the added fence alone")
    assert "stream_clustering original: the added fence alone\n" in result.stderr
    assert "the added fence alone 1" in result.stderr
