"""Expressions that access memory: the column of the one that makes an access."""

import pytest

from racetrap.sim.gpu.editing.access_marks import MemoryAccess, access_mark

_SOURCE = """\
struct Node {{ int *value; int next[4]; Node *link; double2 wide; }};
__device__ int counter;
__device__ void swap(int &a, int &b) {{
  int kept = a; a = b;
}}
__global__ void total(const int *numbers, int *sum, Node *nodes, volatile int *flag, char *bytes) {{
  __shared__ int parts[64], last;
  int own[4], i = threadIdx.x, x = 0, *at = parts + i;
  {0}
}}
"""
#: Line and first column of the statement.
_LINE, _BEGIN = 9, 3


def column(text, line, kind, name, space):
    """Column of the one expression that makes an access; 0 if that is not known."""
    found = access_mark(text, line, MemoryAccess(kind, name, "", space, 0))
    return found.column if found is not None and found.width == 1 else 0


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
    found = column(_SOURCE.format(statement), _LINE, kind, name, space)
    assert found == _BEGIN + statement.index(expression)


@pytest.mark.parametrize(
    ("statement", "access", "expression"),
    [
        # What is accessed of a structure.
        ("if (nodes[i].value) x = nodes[i].next;", ("load", "nodes", ".value"), "nodes[i].v"),
        ("if (nodes[i].value) x = nodes[i].next[2];", ("load", "nodes", ".next[2]"), "nodes[i].n"),
        ("last_pair.left = last_pair.right;", ("load", "last_pair.right", ""), "last_pair.r"),
        # An index that is a number, of a variable.
        ("parts[7] = x; parts[8] = x;", ("store", "parts", "[8]"), "parts[8]"),
        ("pairs[1].left = x; pairs[2].left = x;", ("store", "pairs", "[2].left"), "pairs[2]"),
        # Bytes of the access.
        ("x = numbers[i] + bytes[i];", ("load", "", "", 1), "bytes[i]"),
        ("x = numbers[i] + bytes[i];", ("load", "", "", 4), "numbers[i]"),
        ("x = *flag + nodes[i].link->wide;", ("load", "", "", 16), "nodes[i].link->wide"),
        # Namespaces are not in the source.
        ("if (counter) x = sum[3];", ("load", "library::counter", ""), "counter"),
        # A pointer to shared memory, which an argument of a kernel is not.
        ("at[i] = numbers[i] + x;", ("store", "parts", "[3]", 4, "shared"), "at[i]"),
        ("x = at[i] + numbers[i];", ("load", "parts", "[3]", 4, "shared"), "at[i]"),
    ],
)  # fmt: skip
def test_one_of_several_is_found(statement, access, expression):
    kind, name, part, size, space = (*access, *(0, "global")[len(access) - 3 :])
    found = access_mark(
        _SOURCE.format(statement), _LINE, MemoryAccess(kind, name, part, space, size)
    )
    assert found == (_BEGIN + statement.index(expression), 1)


@pytest.mark.parametrize(
    ("statement", "kind", "name", "around"),
    [
        ("sum[i] = x; sum[x] = x;", "store", "sum", "sum[i] = x; sum[x] = x;"),
        ("x = 7; if (sum[i] > sum[x]) return;", "load", "sum", "sum[i] > sum[x]"),
        ("x = numbers[i] + sum[i];", "load", "", "numbers[i] + sum[i]"),
        ("x = max(sum[i], 0) + min(sum[x],", "load", "sum", "max(sum[i], 0) + min(sum[x],"),
        ("x = numbers[numbers[i]];", "load", "numbers", "numbers[numbers[i]]"),
    ],
)
def test_of_several_what_is_around_them_is_marked(statement, kind, name, around):
    source = _SOURCE.format(statement + "\n  1);" * statement.endswith(","))
    found = access_mark(source, _LINE, MemoryAccess(kind, name, "", "global", 0))
    assert found == (_BEGIN + statement.index(around), len(around))


@pytest.mark.parametrize(
    ("statement", "kind", "name", "space"),
    [
        # No expression does this, or one of a macro.
        ("x = numbers[i];", "store", "", "global"),
        ("x = LOAD(i) + numbers[i];", "load", "", "global"),
        ("x = own[i];", "load", "", "global"),
        ("x = &sum[i] - sum;", "load", "", "global"),
        ("x = numbers[i];", "load", "parts", "shared"),
    ],
)
def test_no_expression_is_guessed(statement, kind, name, space):
    assert column(_SOURCE.format(statement), _LINE, kind, name, space) == 0


_MACROS = """\
#define LOWER sync[0] = 0
#define KERNEL(NAME, ONE, TWO) __global__ void NAME(int *data, int *sync) {{ {0}ONE; TWO; }}
KERNEL(k, data[0] = 42; __threadfence(), if (data[1] < 3) atomicAdd(sync, data[0]))
"""


@pytest.mark.parametrize(
    ("body", "kind", "name", "expression"),
    [
        ("", "store", "data", "data[0] = 42"),
        ("", "atomic", "sync", "sync, data"),
        ("sync[0] = 1; ", "store", "data", "data[0] = 42"),
        # The macro itself may make the access.
        ("data[0] = 1; ", "store", "data", ""),
        ("LOWER; ", "atomic", "sync", ""),
    ],
)
def test_arguments_of_a_macro_that_defines_a_kernel(body, kind, name, expression):
    source = _MACROS.format(body)
    line = source.splitlines()[2]
    wanted = line.index(expression) + 1 if expression else 0
    assert column(source, 3, kind, name, "global") == wanted


def test_arguments_of_a_macro_that_is_not_in_the_file():
    source = _MACROS.format("").splitlines()[2]
    assert column(source, 1, "store", "data", "global") == 0


def test_a_reference_is_in_memory():
    source = _SOURCE.format("")
    assert column(source, 4, "store", "parts", "global") == 17
    found = access_mark(source, 4, MemoryAccess("load", "parts", "", "global", 0))
    assert found == (3, 20)  # both `a` and `b`


def test_a_line_that_is_not_there():
    assert column("", 9, "load", "x", "global") == 0
