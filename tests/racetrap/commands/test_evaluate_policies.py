"""`racetrap evaluate policies`: detection quality of access buffers, as table and JSON."""

import json


def test_one_application(racetrap):
    result = racetrap(
        "--jobs", 1, "evaluate", "policies", "RED", "--size", "tiny", "--schedules", 1,
        "--json", "-",
    )  # fmt: skip
    assert result.exit_code == 0, result.output
    document = json.loads(result.stdout)
    rows = {row["policy"]: row for row in document["tables"]["policies"]}
    assert rows["stall"]["caught"] == rows["stall"]["racy builds"] == 2
    assert rows["stall"]["left out, %"] == 0
    assert 0 < rows["sample 1 line of 2"]["left out, %"] < 100
    assert "Policies of access buffers" in result.stderr
