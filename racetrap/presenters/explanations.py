"""Explanations of codes: text, and help for SARIF."""

from __future__ import annotations

from racetrap.verdict.codes import Code, codes


def code_list() -> str:
    """Every code with its title, a line each."""
    return "".join(f"{each.code}  {each.title}\n" for each in codes().values())


def explanation(code: Code) -> str:
    """All about a code."""
    example = "\n".join(f"    {line}".rstrip() for line in code.example.strip().split("\n"))
    return (
        f"{code.code}: {code.title}\n\n{code.why.strip()}\n\nLevel: {code.level}\n\n"
        f"Rule: {code.section}\n\n"
        f"Example:\n\n{example}\n\nCure: {code.cure.strip()}\n"
    )


def sarif_rule(code: Code) -> dict[str, object]:
    """A code as a rule of SARIF."""
    return {
        "id": code.code,
        "shortDescription": {"text": code.title},
        "fullDescription": {"text": " ".join(code.why.split())},
        "help": {"text": explanation(code), "markdown": _markdown(code)},
    }


def _markdown(code: Code) -> str:
    return (
        f"{code.why.strip()}\n\n*{code.section}*\n\n```cuda\n{code.example.strip()}\n```\n\n"
        f"**Cure:** {code.cure.strip()}\n"
    )
