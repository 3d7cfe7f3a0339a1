"""The command `racetrap coverage`."""

import json

from click.testing import CliRunner

from racetrap.cli import cli
from racetrap.sim.cosim.scord.coverage_bins import BINS, UNREACHABLE


def _coverage(tmp_path, counts, *options):
    file = tmp_path / "hits.json"
    file.write_text(json.dumps(counts))
    return CliRunner().invoke(cli, ["coverage", str(file), *options])


def test_all_bins_hit(tmp_path):
    counts = {name: 1 for name in BINS if name not in UNREACHABLE}
    assert _coverage(tmp_path, counts).exit_code == 0


def test_missed_bin_is_named(tmp_path):
    missed = next(name for name in BINS if name not in UNREACHABLE)
    counts = {name: 1 for name in BINS if name not in {missed, *UNREACHABLE}}
    out = tmp_path / "out.json"
    result = _coverage(tmp_path, counts, "--json", str(out))
    assert result.exit_code == 3
    assert json.loads(out.read_text())["missed"] == [missed]


def test_unknown_bin_is_refused(tmp_path):
    assert _coverage(tmp_path, {"no.such.bin": 1}).exit_code == 2


def test_notes_of_both_systems_get_a_table_each(tmp_path):
    for system, name in (("scord", "launch"), ("sigrace", "queue.full")):
        notes = [{"system": system, "test": "any"}, {"coverage": {name: 2}}]
        (tmp_path / f"{system}.jsonl").write_text("\n".join(map(json.dumps, notes)))
    files = [str(tmp_path / f"{system}.jsonl") for system in ("scord", "sigrace")]
    out = tmp_path / "out.json"
    result = CliRunner().invoke(cli, ["coverage", *files, "--json", str(out)])
    assert result.exit_code == 3
    assert json.loads(out.read_text())["bins"] == {"launch": 2, "queue.full": 2}
    missed = json.loads(out.read_text())["missed"]
    assert {"row.load_first.load", "queue.empty"} <= set(missed)
    assert not {"launch", "queue.full"} & set(missed)


def test_notes_without_coverage_are_refused(tmp_path):
    (tmp_path / "notes.jsonl").write_text('{"system": "scord"}\n')
    result = CliRunner().invoke(cli, ["coverage", str(tmp_path / "notes.jsonl")])
    assert result.exit_code == 2
