"""The thesis' own text form, recognised without a header."""

import pytest

from racetrap.golden_model.trace import NoncoherentTrace, Rule, TraceError, read_trace
from racetrap.golden_model.trace.noncoherent.operations import Operation, OperationKind

_K = OperationKind
_FIGURE_4_3 = """\
cached_write cached_write 0x7ffd97898fd0-0x7ffd97898fd9
cache_flusha 0x7ffd97898fd0-0x7ffd97898fd9

do_dma_read 0x7ffd97898fd0-0x7ffd97898fd9
do_dma_write 0x7ffd97898fd0-0x7ffd97898fd9
sync
cached_read 0x7ffd97898fd0-0x7ffd97898fd0
"""


@pytest.fixture
def read(tmp_path):
    def _read(text):
        path = tmp_path / "thesis.txt"
        path.write_text(text)
        return read_trace(path)

    return _read


def test_operations(read):
    trace = read(_FIGURE_4_3)
    assert isinstance(trace, NoncoherentTrace)
    array = (0x7FFD97898FD0, 10)
    assert list(trace) == [
        Operation(_K.CACHED_WRITE, *array),
        Operation(_K.CACHE_FLUSH, *array),
        Operation(_K.DMA_READ, *array),
        Operation(_K.DMA_WRITE, *array),
        Operation(_K.SYNC_ALL),
        Operation(_K.CACHED_READ, array[0], 1),
    ]
    assert trace.header.layout == "host"
    assert trace.header.source == "thesis.txt"


@pytest.mark.parametrize(
    ("line", "rule", "words"),
    [
        ("cached_move 0x1-0x2", Rule.KIND, "Unknown operation 'cached_move'"),
        ("cached_read 1-2", Rule.TEXT, "Line must be an operation and a range"),
        ("cached_read cached_write 0x1-0x2", Rule.TEXT, "Line must be"),
        ("cached_read", Rule.TEXT, "Operation cached_read takes a range"),
        ("sync 0x1-0x2", Rule.TEXT, "Operation sync takes no range"),
        ("cached_read 0x2-0x1", Rule.SIZE, "Range must end at 0x2 or behind, not at 0x1"),
        ("cached_read 0x0-0x100000000", Rule.WIDTH, "size"),
    ],
)
def test_bad_lines(read, line, rule, words):
    with pytest.raises(TraceError) as caught:
        read(f"sync\n\n{line}\n")
    assert caught.value.rule == rule
    assert "thesis.txt, line 3" in str(caught.value)
    assert words in str(caught.value)


def test_another_first_word_is_not_the_thesis_form(read):
    with pytest.raises(TraceError) as caught:
        read("cached_move 0x1-0x2\n")
    assert caught.value.rule == Rule.MAGIC
