"""`racetrap vortex run`: kernels on the Verilog of an open GPU, beside each detector."""

import json
from itertools import pairwise

import pytest

from racetrap.golden_model.trace import read_gpu_trace
from racetrap.sim.cosim.vortex.kernel_image import KERNELS
from tests.support import REPOSITORY
from tests.support.fst_waves import read_signal
from tests.support.vortex.needs import needs_vortex

pytestmark = needs_vortex

_OWN = REPOSITORY / "tests/support/vortex/kernels"
_DETECTORS = ("scord-nocache", "causality-nocache")
_SMALL = ("--set", "blocks=4", "--set", "threads=4")


def _run(racetrap, tmp_path, kernel, *words, status=0):
    file = tmp_path / "out.json"
    result = racetrap("vortex", "run", kernel, *words, "--json", file)
    assert result.exit_code == status, result.output + result.stderr
    return json.loads(file.read_text()), result


@pytest.mark.parametrize("detector", _DETECTORS)
def test_a_message_without_fences_is_reported_and_with_them_is_not(detector, racetrap, tmp_path):
    kernel = KERNELS / "messages.c"
    right, _ = _run(racetrap, tmp_path, kernel, "--detector", detector, *_SMALL)
    assert (right["result"], right["reports"]) == ([42], [])
    assert right["exact"]["findings"] == []
    wrong, shown = _run(
        racetrap, tmp_path, kernel, "RACE", "--detector", detector, *_SMALL, status=1
    )
    lines = {report["line"] for report in wrong["reports"]}
    assert lines == {"messages.c:25"}
    assert "messages.c:25" in shown.output
    assert len(wrong["exact"]["findings"]) == 1


@pytest.mark.parametrize("l1", ["false", "true"])
def test_accesses_of_all_shapes_are_equal_to_the_golden_models(l1, racetrap, tmp_path):
    words = ("--set", f"l1={l1}", "--set", "argument=7")
    done, _ = _run(racetrap, tmp_path, _OWN / "shapes.c", *words)
    assert (done["result"], done["reports"]) == ([7], [])
    assert done["instructions"] > 4000


def test_a_sum_without_fences_is_wrong_with_caches(racetrap, tmp_path):
    words = ("--set", "l1=true", *_SMALL)
    right, _ = _run(racetrap, tmp_path, _OWN / "ticket.c", "FENCE=fence_device", *words, status=1)
    assert right["result"] == right["result_without"] == [496]
    # Cached data behind fences: right on this machine, but ScoRD wants strong accesses.
    assert {report["kind"] for report in right["reports"]} == {"not-strong"}
    assert right["exact"]["findings"] == []
    wrong, _ = _run(racetrap, tmp_path, _OWN / "ticket.c", *words, status=1)
    assert wrong["result"] != [496]
    assert {report["kind"] for report in wrong["reports"]} == {"missing-device-fence"}
    assert wrong["exact"]["findings"]


def test_the_same_seed_gives_the_same_run(racetrap, tmp_path):
    words = ("--set", "jitter=30", "--seed", "5", *_SMALL)
    one, _ = _run(racetrap, tmp_path, _OWN / "shapes.c", *words)
    two, _ = _run(racetrap, tmp_path, _OWN / "shapes.c", *words)
    assert one == two
    three, _ = _run(racetrap, tmp_path, _OWN / "shapes.c", *words[:2], "--seed", "6", *_SMALL)
    assert three["cycles"] != one["cycles"]


def test_the_trace_can_be_kept(racetrap, tmp_path):
    file = tmp_path / "run.trace"
    done, _ = _run(racetrap, tmp_path, KERNELS / "messages.c", "--output", file, *_SMALL)
    assert len(read_gpu_trace(file)) == done["exact"]["events"]
    assert done["exact"]["trace"] == str(file)


def _cycles_of(file, name):
    """Cycles in which a signal of one bit is high at the end."""
    ends = [time for time, _ in read_signal(file, "TOP.clk [0:0]").changes]
    changes = [*read_signal(file, f"TOP.{name} [0:0]").changes, (max(ends) + 1, "0")]
    return {
        time for (begin, value), (end, _) in pairwise(changes) if value == "1"
        for time in range(begin, end) if time % 2
    }  # fmt: skip


def test_waves_have_what_the_detector_takes(racetrap, tmp_path):
    file = tmp_path / "run.fst"
    done, _ = _run(racetrap, tmp_path, KERNELS / "messages.c", "--output", file, *_SMALL)
    taken = 0
    for core in range(done["machine"]["cores"]):
        valid, ready = (
            _cycles_of(file, f"o_transaction__{core}__{end}") for end in ("valid", "ready")
        )
        taken += len(valid & ready)
    assert taken == done["transactions"]
    plain, _ = _run(racetrap, tmp_path, KERNELS / "messages.c", *_SMALL)
    assert plain == done


def test_a_kernel_that_does_not_end_is_an_error(racetrap):
    result = racetrap("vortex", "run", _OWN / "no_end.c", "--set", "most_cycles=5000")
    assert result.exit_code == 3
    assert "5000 cycles" in result.stderr


def test_a_source_that_does_not_compile_is_named(racetrap, tmp_path):
    (tmp_path / "wrong.c").write_text("void kernel(unsigned a) { nothing; }\n")
    result = racetrap("vortex", "run", tmp_path / "wrong.c")
    assert result.exit_code == 3
    assert "wrong.c" in result.stderr


@pytest.mark.parametrize("setting", ["threads=17", "cores=0", "cores=9", "latency=0"])
def test_a_machine_out_of_range_is_refused(setting, racetrap):
    result = racetrap("vortex", "run", KERNELS / "messages.c", "--set", setting)
    assert result.exit_code == 2
    assert setting.partition("=")[0] in result.stderr


def test_a_detector_without_a_front_end_is_refused(racetrap):
    result = racetrap("vortex", "run", KERNELS / "messages.c", "--detector", "hirace")
    assert result.exit_code == 2
    assert "front end" in result.stderr
