"""State as the paper counts it."""

from dataclasses import replace

from racetrap.golden_model.sigrace.params import Form, SigraceParams
from racetrap.golden_model.sigrace.state import core_state_bits, state_bits, thread_state_bits

_HASHED = SigraceParams(form=Form.HASHED)


def test_a_thread_takes_the_papers_bytes_in_the_rdm():
    assert thread_state_bits(_HASHED) / 8 == 16 * (2 * 256 + 20) == 8512


def test_a_core_takes_the_papers_bytes():
    in_bytes = [bits / 8 for bits in core_state_bits(_HASHED).values()]
    assert in_bytes == [20, 512, 20, 256]
    assert sum(in_bytes) == 808


def test_sets_take_less():
    bits = core_state_bits(SigraceParams())
    assert bits["read_write_sets"] == 2 * (256 + 24 * 22 + 5)
    assert sum(bits.values()) < 808 * 8


def test_whole_instance():
    params = replace(_HASHED, cores=4, contexts=2, threads=16)
    bits = state_bits(params)
    assert bits["history_queues"] == 16 * thread_state_bits(params)
    assert bits["conflict_signatures"] == 8 * 2048
    assert sum(bits.values()) == 8 * sum(core_state_bits(params).values()) + bits["history_queues"]
