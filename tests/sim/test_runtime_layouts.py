"""Recorders' runtimes in C: their codes and layouts are those that Python reads."""

import subprocess

import pytest

from racetrap.golden_model.trace.noncoherent.operations import MAX_ENGINES, OperationKind
from racetrap.golden_model.trace.noncoherent.schema import OPERATION_DTYPE
from racetrap.golden_model.trace.threads.events import (
    MAX_THREADS,
    MemoryOrder,
    SyncClass,
    ThreadEventKind,
)
from racetrap.sim.accelerator import recorder
from racetrap.sim.cpu import raw
from tests.support import REPOSITORY

_ORDERS = {
    "RELAXED": MemoryOrder.RELAXED, "ORDER_ACQUIRE": MemoryOrder.ACQUIRE,
    "ORDER_RELEASE": MemoryOrder.RELEASE, "ACQ_REL": MemoryOrder.ACQ_REL,
}  # fmt: skip


def values_of(codes):
    return {code.name: int(code) for code in codes}


def places_of(dtype, struct):
    """Offset and bytes of each field, as C says them."""
    return {f"sizeof(struct {struct})": dtype.itemsize} | {
        text: value
        for name in dtype.names
        for text, value in (
            (f"__builtin_offsetof(struct {struct}, {name})", dtype.fields[name][1]),
            (f"sizeof(((struct {struct} *)0)->{name})", dtype.fields[name][0].itemsize),
        )
    }


THREADS = {
    **values_of(ThreadEventKind),
    **values_of(SyncClass),
    **_ORDERS,
    # `tag` is the kind and one.
    "FRAME": raw._FRAME - 1, "IN_FRAME": raw._IN_FRAME - 1, "EXTENSION": raw._EXTENSION - 1,
    "FILLER": raw._FILLER - 1, "MAX_THREADS": MAX_THREADS,
    **places_of(raw.RAW_DTYPE, "record"),
}  # fmt: skip
ACCELERATORS = {
    **values_of(OperationKind),
    "ENGINES": MAX_ENGINES,
    "OPEN_RUNS": recorder._OPEN_RUNS,
    **places_of(OPERATION_DTYPE, "record"),
    **places_of(recorder._RUN_DTYPE, "run"),
}
SOURCES = {
    "sim/cpu/runtime/raw_file.c": {
        **values_of(raw.Loss),
        "LOSSES": len(raw.Loss),
        **places_of(raw._HEADER_DTYPE, "raw_file"),
    },
    "sim/cpu/runtime/record.h": THREADS,
    "sim/accelerator/runtime/record.c": ACCELERATORS,
}


def refusals(source, values):
    """What the compiler says of values that are others in a source."""
    asserts = "".join(
        f'_Static_assert({text} == {value}, "{text}");\n' for text, value in values.items()
    )
    done = subprocess.run(
        ["gcc", "-std=gnu17", "-fsyntax-only", "-x", "c", "-"], capture_output=True, text=True,
        input=f'#include "{REPOSITORY / source}"\n{asserts}', check=False,
    )  # fmt: skip
    return done.stderr if done.returncode else ""


@pytest.mark.parametrize("source", SOURCES)
def test_codes_and_layouts_are_those_of_python(source):
    assert refusals(source, SOURCES[source]) == ""


@pytest.mark.parametrize("source", SOURCES)
def test_each_that_differs_is_seen(source):
    wrong = {text: value + 1 for text, value in SOURCES[source].items()}
    said = refusals(source, wrong)
    assert [text for text in wrong if f'static assertion failed: "{text}"' not in said] == []
