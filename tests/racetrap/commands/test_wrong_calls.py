"""A hundred wrong calls: each message names the right value or the next command."""

import shutil
from pathlib import Path

import pytest

_EXAMPLES = Path("docs/examples").resolve()
_PROGRAM = "__global__ void k(int *p) { *p = 1; }\nint main() { return 0; }\n"
_CHECK = "check handover.ptx --launch handover.toml"

#: What is called, and words that the message must have.
_CALLS = (
    # Commands.
    ("chek block-fence.trace", "check"), ("simulat scord", "simulate"),
    ("genrate scord", "generate"), ("preset", "presets"), ("evalute scord", "evaluate"),
    ("campain", "campaign"), ("coverge", "coverage"), ("litmuss", "litmus"), ("stres", "stress"),
    ("swep", "sweep"), ("tracce info", "trace"), ("doctr", "doctor"), ("cach info", "cache"),
    ("schem check", "schema"), ("bensh", "bench"), ("fpgaa boards", "fpga"),
    ("trace inof x", "info"), ("trace recrod x", "record"), ("trace convrt x y", "convert"),
    ("trace slcie x y", "slice"), ("trace captur x", "capture"), ("evaluate scrod", "scord"),
    ("evaluate sigace", "sigrace"), ("evaluate bugaro", "bugaroo"),
    ("evaluate noncoherant", "noncoherent"), ("evaluate polices", "policies"),
    ("fpga biuld scord-local", "build"), ("fpga rnu x", "run"), ("fpga selftset x", "selftest"),
    ("cache cler", "clear"),
    # Presets.
    ("scrod", "'scord'"), ("sigrase", "'sigrace'"), ("noncohernt", "'noncoherent'"),
    ("hirase", "'hirace'"), ("presets scord-wid", "'scord-wide'"),
    ("generate scord-tinny", "'scord-tiny'"), ("cost sigrace-tin", "'sigrace-tiny'"),
    ("campaign scord-nocashe", "'scord-nocache'"),
    ("simulate scrod block-fence.trace", "'scord'"),
    ("check block-fence.trace --detector scrod", "'scord'"),
    (f"{_CHECK} --detector scord-nochache", "'scord-nocache'"),
    ("fpga build scord-locl --board ulx3s-85f", "'scord-local'"),
    # Settings.
    ("generate scord --set ratoi=4", "'ratio'"), ("generate scord --set ratio", "name=value"),
    ("generate scord --set ratio=4 --set ratio=8", "twice"),
    ("generate scord --set ratio=x", "whole number"),
    ("generate scord --set bankss=2", "'banks'"),
    ("generate scord --set access_policy=drpo", "'drop'"),
    ("generate scord --set trace_port=maybe", "true or false"),
    ("generate scord --set access_policy=drop", "access_buffer_depth must be at least 1"),
    ("generate sigrace --set corse=2", "'cores'"),
    ("check locked-sum.trace --set environment=migratoin", "'migration'"),
    ("check locked-sum.trace --set threads=1", "--set threads=3"),
    # Options.
    (f"{_CHECK} --oracel ptx", "--oracle"), (f"{_CHECK} --limt 3", "--limit"),
    ("check handover.ptx --lunch handover.toml", "--launch"),
    (f"{_CHECK} --basline x", "--baseline"), (f"{_CHECK} --jsn x", "--json"),
    (f"{_CHECK} --outptu x.html", "--output"), ("generate scord --outputt x", "--output"),
    ("campaign --configuration 3", "--configurations"), ("litmus x --memroy views", "--memory"),
    ("cost scord --famly ecp5", "--family"), ("cost scord --seed 3", "--seeds"),
    ("simulate scord scor-micro --schedule 3", "--schedules"),
    ("check x --preset scord", "--detector"), ("check x --html y", ".html"),
    ("campaign --volume 3", "--budget"), ("check x --quiet", "racetrap --quiet"),
    # Words of options.
    (f"{_CHECK} --oracle causalty", "'causality'"), (f"{_CHECK} --memory view", "'views'"),
    ("litmus x --memory wiews", "'views'"), ("cache clear zzz", "'built'"),
    ("bench scrod", "'scord'"),
    ("campaign --detector sigace", "'sigrace'"), ("evaluate scord MMM", "'MM'"),
    ("evaluate scord --size tinny", "'tiny'"), ("cost scord --family ecp", "'ecp5'"),
    ("cost scord --block lock_tabel", "'lock_tables'"),
    ("fpga build scord-local --board ulx3s", "'ulx3s-85f'"), ("cache clear bilt", "'built'"),
    ("schema chek", "'check'"),
    # Options of another subject.
    ("check locked-sum.trace --oracle ptx", "leave it out"),
    ("check block-fence.trace --exact", "leave it out"),
    (f"{_CHECK} --fail-fast", "leave it out"),
    # Numbers.
    (f"{_CHECK} --limit some", "all"), ("simulate scord scor-micro --schedules -1", ">=0"),
    ("campaign --budget 0", ">=1"), ("simulate scord scor-micro --seed -1", ">=0"),
    ("trace slice locked-sum.trace -o x.trace --events 5:2", "A below B"),
    # Files.
    ("nofile.trace", "No such file"), ("check nofile.trace", "No such file"),
    ("folder", "racetrap --help"), ("check folder", "directory"), ("text.txt", "racetrap --help"),
    ("check text.txt", "racetrap-trace"), ("handover.toml", "whose kernel comes before it"),
    ("alone.ptx", "racetrap alone.ptx LAUNCH.toml"), ("check alone.ptx", "--launch FILE"),
    ("check program.cu", "`racetrap run program.cu`"), ("litmus text.txt", "PTX and a name"),
    ("simulate scord locked-sum.trace", "take one of sigrace"),
    ("simulate sigrace block-fence.trace", "scord"), ("sweep text.txt", "TOML"),
    ("coverage text.txt", "JSON"), ("simulate scord", "TRACE"),
    # Launch files.
    ("check handover.ptx --launch kernel.toml", "'handover'"),
    ("check handover.ptx --launch key.toml", "'schedules'"),
)  # fmt: skip


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Examples, and files that are something else."""
    path = tmp_path_factory.mktemp("calls")
    for each in ("block-fence.trace", "locked-sum.trace", "handover.ptx", "handover.toml"):
        shutil.copy(_EXAMPLES / each, path)
    shutil.copy(_EXAMPLES / "handover.ptx", path / "alone.ptx")
    (path / "text.txt").write_text("hello\n")
    (path / "program.cu").write_text(_PROGRAM)
    (path / "folder").mkdir()
    launch = (_EXAMPLES / "handover.toml").read_text()
    (path / "kernel.toml").write_text(launch.replace('"handover"', '"hand_over"'))
    (path / "key.toml").write_text(f"schedule = 2\n{launch}")
    return path


def test_there_are_a_hundred():
    assert len({call for call, _ in _CALLS}) == len(_CALLS) >= 100


@pytest.mark.parametrize(("call", "words"), _CALLS, ids=[call for call, _ in _CALLS])
def test_the_message_says_what_is_right(racetrap, folder, monkeypatch, call, words):
    monkeypatch.chdir(folder)
    before = sorted(folder.rglob("*"))
    result = racetrap(*call.split())
    assert (result.exit_code, result.stdout) == (2, ""), result.output
    assert words in " ".join(result.stderr.split())
    assert sorted(folder.rglob("*")) == before
