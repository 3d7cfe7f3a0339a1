"""Expressions that access memory: the column of the one that makes an access."""

import pytest

from racetrap.sim.gpu.editing.expressions import access_column

_SOURCE = """\
struct Node {{ int *value; int next[4]; Node *link; }};
__device__ int counter;
__device__ void swap(int &a, int &b) {{
  int kept = a; a = b;
}}
__global__ void total(const int *numbers, int *sum, Node *nodes, volatile int *flag) {{
  __shared__ int parts[64], last;
  int own[4], i = threadIdx.x, x = 0;
  {0}
}}
"""
#: Line and first column of the statement.
_LINE, _BEGIN = 9, 3


@pytest.mark.parametrize(
    ("statement", "kind", "name", "space", "expression"),
    [
        ("parts[i] = numbers[i];", "store", "parts", "shared", "parts[i]"),
        ("parts[i] = numbers[i];", "load", "numbers", "global", "numbers[i]"),
        # The pointer has another name than the allocation.
        ("parts[i] = numbers[i];", "load", "d_numbers", "global", "numbers[i]"),
        ("parts[i] = numbers[i];", "load", "", "global", "numbers[i]"),
        ("for (int i = 0; i < 64; i++) *sum += parts[i];", "load", "parts", "shared", "parts[i]"),
        ("for (int i = 0; i < 64; i++) *sum += parts[i];", "load", "sum", "global", "*sum"),
        ("for (int i = 0; i < 64; i++) *sum += parts[i];", "store", "", "global", "*sum"),
        ("x = numbers[parts[i + 1]];", "load", "parts", "shared", "parts[i"),
        ("if (parts[3] > 4) counter++;", "store", "counter", "global", "counter"),
        ("if (parts[3] > 4) counter++;", "load", "counter", "global", "counter"),
        ("last = sum[i] + last_value;", "store", "last", "shared", "last"),
        ("x = nodes[i].next[2] + sum[3];", "load", "nodes", "global", "nodes"),
        ("nodes[i].link->next[2] = sum[3];", "store", "", "global", "nodes"),
        ("x = 7; while (*flag != 0) x++;", "load", "flag", "global", "*flag"),
        ("x = 7; atomicAdd(&sum[x], parts[5]);", "atomic", "sum", "global", "sum[x]"),
        ("atomicAdd(&last, 1);", "atomic", "other", "shared", "last"),
        ("atomicAdd(sum + x, 1);", "atomic", "", "global", "sum + x"),
        ("x = __ldcg(&numbers[i]) + own[2];", "load", "", "global", "numbers"),
        ("own[1] = numbers[i] + own[2];", "load", "", "global", "numbers"),
        ("sum[7] = x; sum[8] = (int)flag[1];", "load", "flag", "global", "flag"),
        ('/* \u00e4 */ x = numbers[sizeof(numbers[1])];', "load", "", "global", "numbers[s"),
    ],
)  # fmt: skip
def test_the_expression_is_found(statement, kind, name, space, expression):
    column = access_column(_SOURCE.format(statement), _LINE, kind, name, space)
    assert column == _BEGIN + statement.index(expression)


@pytest.mark.parametrize(
    ("statement", "kind", "name", "space"),
    [
        # Two of them may be meant, none does this, or one of a macro.
        ("sum[7] = x; sum[8] = x;", "store", "sum", "global"),
        ("x = numbers[i] + sum[i];", "load", "", "global"),
        ("x = numbers[i];", "store", "", "global"),
        ("x = LOAD(i) + numbers[i];", "load", "", "global"),
        ("x = own[i];", "load", "", "global"),
        ("x = &sum[i] - sum;", "load", "", "global"),
    ],
)
def test_no_expression_is_guessed(statement, kind, name, space):
    assert access_column(_SOURCE.format(statement), _LINE, kind, name, space) == 0


def test_a_reference_is_in_memory():
    source = _SOURCE.format("")
    assert access_column(source, 4, "store", "parts", "global") == 17
    assert access_column(source, 4, "load", "parts", "global") == 0  # both `a` and `b`


def test_a_line_that_is_not_there():
    assert access_column("", 9, "load", "x", "global") == 0
