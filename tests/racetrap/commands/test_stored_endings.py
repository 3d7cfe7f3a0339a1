"""How a run ended is in its trace: a stored trace is judged as its kernel is."""

import json

import pytest

from racetrap.golden_model.trace import read_trace

_KERNEL = """.version 9.0
.target sm_75
.address_size 64
.visible .entry k(.param .u64 p_out, .param .u64 p_flag)
{
.reg .pred %p<4>;
.reg .b32 %r<9>;
.reg .b64 %rd<4>;
ld.param.u64 %rd1, [p_out];
ld.param.u64 %rd2, [p_flag];
mov.u32 %r1, %tid.x;
mov.u32 %r2, %ctaid.x;
setp.eq.u32 %p1, %r2, 1;
or.b32 %r4, %r1, %r2;
setp.eq.u32 %p0, %r4, 0;
BODY
ret;
}
"""
_LAUNCH = """kernel = "k"
grid = 2
block = 64
stall_limit = 2000
schedules = 1
OPTIONS
arguments = [{ buffer = "zeros", type = "u32", count = 4, expected = [EXPECTED] },
             { buffer = "zeros", type = "u32", count = 1 }]
"""
_STORE = "@%p0 st.global.u32 [%rd1], 7;"
#: Endings by name: body, options of the launch file, and what `check` says of it.
_ENDINGS = {
    "as expected": (_STORE, "", ""),
    "illegal address": (f"{_STORE} @%p1 st.global.u32 [%rd1+4096], 7;", "", "inside a buffer"),
    "misaligned address": (f"{_STORE} @%p1 st.global.u32 [%rd1+2], 7;", "", "a multiple of 4"),
    "trap": (f"{_STORE} @%p1 trap;", "", "trap"),
    "deadlock": (f"{_STORE} setp.lt.u32 %p2, %r1, 32; @%p2 bra L; bar.sync 0; L: @!%p2 bra E;"
                 "bar.sync 1; E:", "", "deadlock"),
    "livelock": (f"{_STORE} L: ld.volatile.global.u32 %r3, [%rd2]; setp.eq.u32 %p2, %r3, 0;"
                 "@%p2 bra L;", "", "livelock"),
    "instruction limit": (f"{_STORE} L: atom.global.add.u32 %r3, [%rd2], 1; bra L;",
                          "instruction_limit = 3000", "3000 warp instructions"),
    "another result": ("@%p0 st.global.u32 [%rd1], 8;", "", "must have"),
    # Lanes of a warp race only if they are independent.
    "independent threads": (
        "setp.eq.u32 %p2, %r1, 0; and.pred %p2, %p1, %p2; @!%p2 bra L; st.global.u32 [%rd1], 7;"
        "L: setp.eq.u32 %p3, %r1, 1; and.pred %p3, %p1, %p3; @%p3 st.global.u32 [%rd1], 7;",
        "independent_threads = true", "race:",
    ),
}  # fmt: skip


@pytest.fixture(params=_ENDINGS)
def run(request, tmp_path, monkeypatch):
    """A kernel that ends so, its launch file, and what is said of it."""
    monkeypatch.chdir(tmp_path)
    body, options, said = _ENDINGS[request.param]
    (tmp_path / "k.ptx").write_text(_KERNEL.replace("BODY", body))
    launch = _LAUNCH.replace("OPTIONS", options).replace("EXPECTED", "7, 0, 0, 0")
    (tmp_path / "k.toml").write_text(launch)
    return ["k.ptx", "--launch", "k.toml"], said


@pytest.mark.parametrize("options", [[], ["--oracle", "none"]])
def test_a_stored_trace_is_judged_as_its_kernel(racetrap, run, options):
    kernel, said = run
    if said == "race:" and options:
        said = ""  # ScoRD looks for no races inside a warp
    shown = racetrap("check", *kernel, *options)
    assert shown.exit_code == bool(said)
    assert said in shown.stdout
    captured = racetrap("trace", "capture", *kernel, "-o", "k.trace")
    # A race is not the run's ending: only a check finds it.
    assert captured.exit_code == (bool(said) and said != "race:")
    if captured.exit_code:
        assert said in captured.stdout
    racetrap("trace", "convert", "k.trace", "k.txt")
    for stored in ("k.trace", "k.txt"):
        again = racetrap("check", stored, *options)
        assert (again.exit_code, again.stdout) == (shown.exit_code, shown.stdout)
        assert racetrap("trace", "info", stored).exit_code == 0


def test_json_of_a_stored_trace_says_the_same(racetrap, run):
    kernel, _ = run
    document = json.loads(racetrap("check", *kernel, "--json", "-").stdout)
    racetrap("trace", "capture", *kernel, "-o", "k.trace")
    stored = json.loads(racetrap("check", "k.trace", "--json", "-").stdout)
    kept = set(stored) - {"trace"}
    assert {"faults", "results", "findings", "independent_threads"} <= kept
    assert {name: stored[name] for name in kept} == {name: document[name] for name in kept}


def test_the_summary_says_that_a_run_is_judged_up_to_its_fault(racetrap, run):
    kernel, _ = run
    document = json.loads(racetrap("check", *kernel, "--json", "-").stdout)
    (checked,) = [
        line for line in racetrap("check", *kernel).stdout.splitlines() if "Checked:" in line
    ]
    assert ("up to the fault" in checked) == bool(document["faults"])


@pytest.mark.parametrize(
    "header",
    [
        "system scord\ngeometry sm_count=1 blocks_per_sm=1 warps_per_sm=1\n"
        "region data_base=0x10000 size_log2=16\n",
        "system sigrace\nthreads 2\n",
        "system noncoherent\nmemory line_bytes=32 granule_bytes=16 engines=2 prefetch=0 "
        "uncached_snoops_cache=0\nlayout target\n",
    ],
)
@pytest.mark.parametrize("form", ["text", "binary"])
def test_a_trace_with_only_a_header_is_not_called_free_of_races(racetrap, tmp_path, header, form):
    path = tmp_path / "empty.trace"
    path.write_text(f'racetrap-trace 2\n{header}source "nothing"\n')
    if form == "binary":
        read_trace(path).write_binary(path)
    result = racetrap("check", path)
    assert (result.exit_code, result.stdout) == (2, "")
    assert "only a header" in result.stderr
