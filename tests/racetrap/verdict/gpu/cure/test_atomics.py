"""Accesses as atomics."""

import pytest

from racetrap.sim.gpu.editing.edits import edited
from racetrap.sim.gpu.editing.source_unit import SourceUnit
from racetrap.verdict.gpu.cure.atomics import atomics


def atomics_of(statement):
    source = f"__global__ void k(int *a, int n) {{\n{statement}\n}}\n".encode()
    unit = SourceUnit("k.cu", source, 2)
    return [edited(source, change).decode().splitlines()[1] for change in atomics(unit)]


@pytest.mark.parametrize(
    ("statement", "atomic"),
    [
        ("a[0] += n;", "atomicAdd(&a[0], n);"),
        ("a[0] -= n + 1;", "atomicAdd(&a[0], -(n + 1));"),
        ("*a |= n;", "atomicOr(&*a, n);"),
        ("a[n]++;", "atomicAdd(&a[n], 1);"),
        ("--a[n];", "atomicAdd(&a[n], -(1));"),
        ("a[0] = a[0] + n;", "atomicAdd(&a[0], n);"),
        ("a[0] = n + a[0];", "atomicAdd(&a[0], n);"),
        ("a[0] = a[0] - n;", "atomicAdd(&a[0], -(n));"),
        ("a[0] = max(a[0], n);", "atomicMax(&a[0], n);"),
        ("a[0] = n;", "atomicExch(&a[0], n);"),
        ("if (a[0] < n) a[0] = n;", "atomicMax(&a[0], n);"),
        ("if (a[0] > n) { a[0] = n; }", "atomicMin(&a[0], n);"),
        ("a[0] = a[0] >= 9 ? 0 : a[0] + 1;", "atomicInc((unsigned *)&a[0], 9);"),
        ("n = a[0];", "n = atomicAdd(&a[0], 0);"),
        ("n = *a;", "n = atomicAdd(&*a, 0);"),
        ("*(volatile int *)a = n;", "atomicExch(&*(int *)a, n);"),
        ("n = ((volatile int *)a)[1];", "n = atomicAdd(&((int *)a)[1], 0);"),
    ],
)
def test_access_becomes_an_atomic(statement, atomic):
    assert atomic in atomics_of(statement)


@pytest.mark.parametrize("statement", ["a[0] *= n;", "a[0] <<= n;"])
def test_update_without_an_atomic_of_its_kind_gets_none(statement):
    assert atomics_of(statement) == []


def test_no_atomic_is_of_what_each_thread_has_for_itself():
    assert atomics_of("int own = n;") == []
    assert atomics_of("__shared__ int all; all = n;") == [
        "__shared__ int all; atomicExch(&all, n);"
    ]


def test_extremum_in_an_argument_of_a_macro_becomes_an_atomic():
    source = b"UPDATE(most, if (a[0] < b.x + 1) a[0] = b.x + 1)\n"
    texts = [edited(source, change) for change in atomics(SourceUnit("k.cu", source, 1))]
    assert b"UPDATE(most, atomicMax(&a[0], b.x + 1))\n" in texts
