"""JSON Schema of what each command writes with `--json`, from the types of these modules.

Ref: JSON Schema, draft 2020-12.
"""

from __future__ import annotations

import dataclasses
import inspect
import re
from collections.abc import Mapping
from importlib import import_module
from typing import Annotated, Any, get_args, get_origin, get_type_hints

from pydantic import TypeAdapter
from pydantic.json_schema import GenerateJsonSchema, JsonSchemaValue
from pydantic_core import core_schema
from typing_extensions import is_typeddict

from racetrap.golden_model.checks import unknown_name

#: Module and type of the JSON of each command; modules are imported when they are asked for.
DOCUMENTS: Mapping[str, str] = {
    "bench": "measurements:Bench",
    "cache clear": "upkeep:CacheClear",
    "cache info": "upkeep:CacheInfo",
    "campaign": "hardware:Campaign",
    "check": "checks:Check",
    "cost": "cost:CostDocument",
    "coverage": "hardware:Coverage",
    "doctor": "upkeep:Doctor",
    "evaluate advice": "evaluations:EvaluateAdvice",
    "evaluate barracuda": "evaluations:EvaluateBarracuda",
    "evaluate bugaroo": "evaluations:EvaluateBugaroo",
    "evaluate noncoherent": "evaluations:EvaluateNoncoherent",
    "evaluate overhead": "evaluations:EvaluateOverhead",
    "evaluate policies": "evaluations:EvaluatePolicies",
    "evaluate rules": "evaluations:EvaluateRules",
    "evaluate scord": "evaluations:EvaluateScord",
    "evaluate sigrace": "evaluations:EvaluateSigrace",
    "evaluate vortex": "evaluations:EvaluateVortex",
    "fpga boards": "hardware:Boards",
    "fpga build": "hardware:BoardBuildDocument",
    "fpga run": "hardware:BoardRun",
    "fuzz": "upkeep:Fuzz",
    "generate": "hardware:Generate",
    "litmus": "weak_memory:Litmus",
    "mutants": "hardware:Mutants",
    "presets": "hardware:Presets",
    "run": "checks:ProgramVerdict",
    "simulate": "hardware:Simulate",
    "soc run": "hardware:SocRun",
    "stress": "weak_memory:Stress",
    "sweep": "cost:Sweep",
    "trace capture": "traces:Capture",
    "trace info": "traces:TraceInfo",
    "trace record": "traces:Record",
    "trace slice": "traces:Slice",
    "vortex run": "hardware:VortexRunDocument",
}
_DIALECT = "https://json-schema.org/draft/2020-12/schema"
#: Entry of a docstring's section ``Parameters``: names, and the lines of their meaning.
_ENTRY = re.compile(r"^(\w[\w, ]*)(?: : .*)?\n((?:    .*\n?|\n)+)", re.MULTILINE)


def _notes(cls: type) -> Mapping[str, str]:
    """Meaning of each key: the note of its type, or the docstrings of a class and its bases."""
    if not is_typeddict(cls):
        texts = (inspect.cleandoc(base.__doc__ or "") for base in reversed(cls.__mro__))
        return {
            name: " ".join(meaning.replace("``", "`").split())
            for text in texts
            for names, meaning in _ENTRY.findall(
                f"{text}\n".partition("Parameters\n----------\n")[2]
            )
            for name in names.split(", ")
        }
    return {
        name: note
        for name, hint in get_type_hints(cls, include_extras=True).items()
        if (note := _note(hint))
    }


def _note(hint: Any) -> str:
    """The text among the annotations of a type, which may be inside of ``NotRequired``."""
    if get_origin(hint) is Annotated:
        own = [each for each in get_args(hint)[1:] if isinstance(each, str)]
        return own[0] if own else _note(get_args(hint)[0])
    return _note(get_args(hint)[0]) if get_origin(hint) is not None and get_args(hint) else ""


class _Generator(GenerateJsonSchema):
    """Objects have the keys of their types, each with its meaning, and no others."""

    schema_dialect = _DIALECT

    def typed_dict_schema(self, schema: core_schema.TypedDictSchema) -> JsonSchemaValue:
        return self._closed(super().typed_dict_schema(schema), schema["cls"])

    def dataclass_schema(self, schema: core_schema.DataclassSchema) -> JsonSchemaValue:
        made = self._closed(super().dataclass_schema(schema), schema["cls"])
        return {**made, "required": [field.name for field in dataclasses.fields(schema["cls"])]}

    def default_schema(self, schema: core_schema.WithDefaultSchema) -> JsonSchemaValue:
        return self.generate_inner(schema["schema"])  # what is written has every key

    def _closed(self, made: JsonSchemaValue, cls: type) -> JsonSchemaValue:
        made["additionalProperties"] = False
        made["description"] = (inspect.getdoc(cls) or "").partition("\n\n")[0].replace("\n", " ")
        for name, note in _notes(cls).items():
            if name in made.get("properties", {}):
                # A reference may have a neighbour in this draft.
                made["properties"][name]["description"] = note
        for one in made.get("properties", {}).values():
            one.pop("title", None)
        return made


def schema_of(command: str) -> dict[str, Any]:
    """JSON Schema (2020-12) of the JSON of a command.

    Parameters
    ----------
    command : str
        The command without ``racetrap``, such as ``trace info``.

    Raises
    ------
    ValueError
        If there is no such command, or it writes no JSON.
    """
    if command not in DOCUMENTS:
        raise ValueError(unknown_name("command", command, DOCUMENTS))
    module, name = DOCUMENTS[command].split(":")
    document = getattr(import_module(f"racetrap.schemas.{module}"), name)
    made = TypeAdapter(document).json_schema(
        mode="serialization", schema_generator=_Generator, ref_template="#/$defs/{model}"
    )
    return {**made, "title": f"racetrap {command} --json"}
