"""`racetrap evaluate overhead`: ScoRD's cost in time, as tables and JSON."""

import json


def test_one_application(racetrap):
    result = racetrap("--jobs", 1, "evaluate", "overhead", "1DC", "--json", "-")
    assert result.exit_code == 0, result.output
    document = json.loads(result.stdout)
    (row, mean) = document["tables"]["execution"]
    assert (row["program"], mean["program"]) == ("1DC", "mean")
    assert row["ScoRD"] == mean["ScoRD"] > 1
    assert row["paper: ScoRD"] == 1.88
    assert not document["problems"]
    assert "Shares of the overhead" in result.stderr
    # Nothing ran on the hardware.
    assert document["tables"]["hardware"] == []
    assert "hardware of a preset" not in result.stderr
