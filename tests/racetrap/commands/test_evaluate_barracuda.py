"""`racetrap evaluate barracuda`: a benchmark beside the paper's figures."""

import json

import pytest

from racetrap.commands.shared.terminal import ExitStatus
from tests.support.gpu.cuda_programs import needs_compiler


@pytest.mark.campaign
@needs_compiler
def test_the_hash_table_has_the_papers_races(racetrap):
    result = racetrap("--jobs", 1, "evaluate", "barracuda", "Hashtable", "--json", "-")
    assert result.exit_code == 0, result.output
    document = json.loads(result.stdout)
    (row,) = document["tables"]["table-1"]
    assert (row["barracuda, global"], row["barracuda, shared"]) == (3, 0)
    assert row["paper: races"] == "3 global"
    (cost,) = document["tables"]["figure-10"]
    assert cost["untraced, s"] > 0
    assert document["problems"] == []


def test_no_such_benchmark(racetrap):
    result = racetrap("evaluate", "barracuda", "hashtable")
    assert result.exit_code == ExitStatus.BAD_INPUT
    assert "did you mean 'Hashtable'" in result.stderr
