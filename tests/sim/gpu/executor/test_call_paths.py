"""Call paths of instructions in a module of PTX."""

from racetrap.golden_model.call_stacks import Frame, call_stack
from racetrap.sim.gpu.executor.call_paths import CallPaths, FrameTable
from racetrap.sim.gpu.ptx.parser import parse_ptx

_HEAD = ".version 8.0\n.target sm_75\n.address_size 64\n"
_FILES = '.file 1 "a.cu"\n'
_STRINGS = ".section .debug_str\n{\n$L__info_string0:\n.b8 97,100,100,0\n}\n"
#: Code of line 3 that was inlined by a call in line 7.
_INLINED = ".loc 1 1 1\n.loc 1 3 1, function_name $L__info_string0, inlined_at 1 7 1"


def _function(name, *statements):
    return f".func {name}()\n{{\n" + "\n".join(statements) + "\nret;\n}\n"


def _call(name, line):
    return f".loc 1 {line} 1\ncall.uni {name}, ();"


def _paths(*functions):
    module = parse_ptx(_HEAD + "".join(functions) + _FILES + _STRINGS, "t.ptx")
    paths = CallPaths([module])

    def path(name, index=0):
        function = module.functions[name]
        number = paths.frame(module, function, function.instructions[index])
        return [(frame.function, frame.place) for frame in call_stack(paths.frames, number)]

    return path


def test_inlined_code_and_functions_with_one_caller_lead_to_the_kernel():
    path = _paths(
        _function("inner", _INLINED, "membar.gl;"),
        _function("outer", "membar.gl;", _call("inner", 20)),
    )
    outer = ("outer", "")
    assert path("outer") == [outer]
    assert path("inner") == [("add", "a.cu:7"), ("inner", "a.cu:20"), outer]


def test_a_call_that_stands_in_inlined_code():
    path = _paths(
        _function("inner", "membar.gl;"),
        _function("outer", _INLINED, "call.uni inner, ();"),
    )
    assert path("inner") == [("inner", "a.cu:3"), ("add", "a.cu:7"), ("outer", "")]


def test_a_function_with_several_callers_is_the_outermost():
    path = _paths(
        _function("inner", "membar.gl;"),
        _function("one", _call("inner", 20)),
        _function("two", _call("inner", 30)),
    )
    assert path("inner") == [("inner", "")]


def test_a_function_whose_address_is_taken_may_have_any_caller():
    path = _paths(
        _function("inner", "membar.gl;"),
        _function("one", ".reg .b64 %rd1;", "mov.u64 %rd1, inner;", _call("inner", 20)),
    )
    assert path("inner") == [("inner", "")]
    table = ".global .align 8 .u64 table[1] = {inner};\n"
    path = _paths(_function("inner", "membar.gl;"), table, _function("one", _call("inner", 20)))
    assert path("inner") == [("inner", "")]


def test_functions_that_only_call_each_other():
    path = _paths(_function("f", _call("g", 20)), _function("g", _call("f", 30)))
    assert path("f") == [("f", "a.cu:30"), ("g", "")]


def test_each_frame_is_kept_once():
    kernel, scan, add = Frame(0, "kernel", ""), Frame(1, "scan", "a.cu:9"), Frame(2, "add", "b.h:3")
    table = FrameTable()
    numbers = [table.number(*frame) for frame in (kernel, scan, kernel, add, scan)]
    assert numbers == [1, 2, 1, 3, 2]
    assert table.frames == {1: kernel, 2: scan, 3: add}
