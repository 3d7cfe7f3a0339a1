"""`racetrap c++`: compiler of C++ programs that can be recorded."""

from __future__ import annotations

from racetrap.commands.cc import compiler_command

command = compiler_command("c++", "g++", "C++", "CXX")
