"""`racetrap evaluate rules`: verdicts by each rule, as table and JSON."""

import json

from racetrap.commands.shared.terminal import ExitStatus


def test_one_of_each_group(racetrap):
    result = racetrap(
        "--jobs", 1, "evaluate", "rules", "hrf-indirect", "1DC",
        "lock_blocks_no_first_fence", "norace_interwarp_fence_raw",
        "--size", "tiny", "--schedules", 1, "--json", "-",
    )  # fmt: skip
    assert result.exit_code == 0, result.output
    tables = json.loads(result.stdout)["tables"]
    found = {
        row["program"]: (row["scoped"], row["causality"], row["ptx"])
        for name in ("scor-micro-benchmarks", "scor-applications", "small-kernels")
        for row in tables[name]
    }
    assert found["1DC, race-free"] == (0, 0, 0)
    assert found["1DC, block-scope-border"] == (1, 1, 1)
    assert found["lock_blocks_no_first_fence"][2] == 0 < found["lock_blocks_no_first_fence"][1]
    scoped, causality, ptx = found["norace_interwarp_fence_raw"]  # its reader acquires nothing
    assert (scoped, ptx) == (0, 0)
    assert causality
    rows = {(row["group"], row["meant"]): row for row in tables["rules"]}
    applications = rows["ScoR applications", "racy"]
    assert (applications["programs"], applications["scoped"]) == (1, 1)
    assert rows["ScoR micro-benchmarks", "race-free"]["causality"] >= 1
    assert "Different races by rule: small kernels" in result.stderr


def test_no_such_program(racetrap):
    result = racetrap("evaluate", "rules", "none such")
    assert result.exit_code == ExitStatus.BAD_INPUT
    assert "must be part of a program's name, not 'none such'" in result.stderr
