"""Worker processes: results in order, errors at once, and workers that die."""

import os
from concurrent.futures import ThreadPoolExecutor

import pytest

from racetrap.evaluation.processes import processes, run_all
from racetrap.golden_model.ptx_memory_model.litmus.errors import LitmusError
from racetrap.golden_model.trace import Rule, TraceError
from racetrap.sim.failure import Failure
from racetrap.sim.gpu.executor.machine.errors import Fault, KernelFault
from racetrap.sim.gpu.ptx.errors import PtxError


def test_results_are_in_order_and_shown():
    done = []
    with ThreadPoolExecutor(3) as pool:
        assert run_all(abs, [-3, 2, -1], pool, done.append) == [3, 2, 1]
    assert sorted(done) == [1, 2, 3]


def test_an_error_drops_what_has_not_begun():
    made = []

    def fails(number):
        made.append(number)
        raise ValueError("Number must be another")

    with ThreadPoolExecutor(1) as pool, pytest.raises(ValueError, match="must be another"):
        run_all(fails, range(200), pool)
    assert len(made) < 200


def test_processes_of_their_own():
    with processes(1) as pool:
        assert pool.submit(os.getpid).result() != os.getpid()


def _fail(error):
    raise error


def test_errors_of_a_worker_arrive_as_they_are():
    errors = [
        TraceError("run.trace:3", Rule.KIND, "Kind must be known"),
        PtxError("kernel.ptx", 3, "is not declared"),
        LitmusError("test.litmus", 3, "Column must belong to a thread"),
        KernelFault(Fault.TRAP, "Kernel k: trap"),
    ]
    with processes(1) as pool:
        for error in errors:
            arrived = pool.submit(_fail, error).exception()
            assert (type(arrived), str(arrived)) == (type(error), str(error))
            assert vars(arrived) == vars(error)


def test_a_worker_that_dies():
    with pytest.raises(Failure, match="Worker process died"), processes(1) as pool:
        run_all(os._exit, [1], pool)
