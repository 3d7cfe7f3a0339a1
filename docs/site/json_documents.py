"""Reference of the JSON that commands write, made from its schemas; and the schemas as files."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from docs.site.markdown import table
from racetrap.schemas.json_schema import DOCUMENTS, schema_of

#: Folder of the site in which the schemas lie.
SCHEMAS_FOLDER = "schemas"
_REFERENCE = "#/$defs/"
_Schema = Mapping[str, Any]


def _file_name(command: str) -> str:
    return f"{command.replace(' ', '-')}.json"


def write_schemas(site: Path) -> None:
    """Write the schema of each command into the folder of a site."""
    folder = site / SCHEMAS_FOLDER
    folder.mkdir(exist_ok=True)
    for command in DOCUMENTS:
        text = json.dumps(schema_of(command), indent=2)
        (folder / _file_name(command)).write_text(f"{text}\n", encoding="utf-8")


def _is_plain(schema: _Schema) -> bool:
    """Whether it has no keys of its own, but is a word or a number."""
    return "properties" not in schema


def _type_text(schema: _Schema, types: Mapping[str, _Schema]) -> str:
    """A type in words; objects with keys are linked."""
    if name := schema.get("$ref", "").removeprefix(_REFERENCE):
        if _is_plain(types[name]):
            return _type_text(types[name], types)
        return f"[{name}](#{name.lower()})"
    if options := schema.get("anyOf"):
        return " or ".join(dict.fromkeys(_type_text(option, types) for option in options))
    if values := schema.get("enum"):
        return " or ".join(f"`{value}`" for value in values)
    if "const" in schema:
        return f"`{schema['const']}`"
    if "prefixItems" in schema:
        return f"[{', '.join(_type_text(one, types) for one in schema['prefixItems'])}]"
    if schema.get("type") == "array":
        return f"list of {_type_text(schema['items'], types)}"
    if schema.get("type") == "object":
        value = schema.get("additionalProperties")
        return (
            f"map of names to {_type_text(value, types)}" if isinstance(value, dict) else "object"
        )
    return schema.get("type", "any")


def _keys(schema: _Schema, types: Mapping[str, _Schema]) -> str:
    rows = [
        (
            f"`{name}`" + " (may be absent)" * (name not in schema["required"]),
            _type_text(one, types),
            one.get("description", ""),
        )
        for name, one in schema["properties"].items()
    ]
    return table(("key", "type", "meaning"), rows)


def _variants(schema: _Schema, types: Mapping[str, _Schema]) -> Iterator[_Schema]:
    """What a document may be, references resolved."""
    if name := schema.get("$ref", "").removeprefix(_REFERENCE):
        yield types[name]
    elif "anyOf" in schema:
        for option in schema["anyOf"]:
            yield from _variants(option, types)
    else:
        yield schema


def _chapter(command: str) -> Iterator[str]:
    schema = schema_of(command)
    types = schema.get("$defs", {})
    yield f"## `racetrap {command}`\n"
    place = f"{SCHEMAS_FOLDER}/{_file_name(command)}"
    yield f'JSON Schema: <a href="{place}">{place}</a>\n'
    variants = list(_variants(schema, types))
    for variant in variants:
        if _is_plain(variant):
            yield f"A value: {_type_text(variant, types)}.\n"
            continue
        if len(variants) > 1:
            yield f"{variant['description'].rstrip('.')}:\n"
        yield _keys(variant, types)


def json_reference() -> str:
    """Keys of each command's JSON, then of the objects in it."""
    objects: dict[str, tuple[_Schema, Mapping[str, _Schema]]] = {}
    for command in DOCUMENTS:
        schema = schema_of(command)
        types = schema.get("$defs", {})
        tops = list(_variants(schema, types))
        for name, one in types.items():
            if _is_plain(one) or one in tops:
                continue
            if objects.setdefault(name, (one, types))[0] != one:
                raise ValueError(f"Object {name} must be the same wherever it is")
    chapters = [part for command in DOCUMENTS for part in _chapter(command)]
    chapters.append("## Objects\n")
    for name, (one, types) in sorted(objects.items()):
        chapters += [f"### {name}\n", f"{one['description']}\n", _keys(one, types)]
    return "\n".join(chapters)
