"""The tables of Docs/vendor-rules.md: the rules of Apple and Google, and the differences of this server."""

import re
from dataclasses import dataclass, field

from aldaba_process import REPOSITORY

ANSWER = re.compile(r"`(\d\wx|\d{3}(?: \w+)?|\d+ streams?)`")


@dataclass(frozen=True)
class Rule:
    """One row: the answer to a request that breaks the rule, and the field that the answer names."""

    answer: str
    field: str
    source: str


def tables(heading):
    """The rows of all tables under a heading of the second level, as lists of their cells."""
    text = (REPOSITORY / "Docs/vendor-rules.md").read_text()
    [part] = re.findall(rf"^## {re.escape(heading)}\n(.*?)(?=^## |\Z)", text, re.M | re.S)
    rows = [[cell.strip() for cell in line.strip("|").split(" | ")] for line in re.findall(r"^\|.*\|$", part, re.M)]
    return [row for row in rows if row[0] != "rule" and not set(row[0]) <= set("-|")]


def rules(heading):
    """The rules of one vendor by their text; each row has an answer and a source."""
    found = {}
    for text, answer, source in tables(heading):
        code = ANSWER.search(answer)
        assert code, f"no answer in: {text} | {answer}"
        assert text not in found, f"twice: {text}"
        named = re.search(r"`(message[^`]*|validate_only)`", answer)
        found[text] = Rule(code[1], named[1] if named else "", source)
    return found


def differences():
    """What this server answers in place of the vendor's, by the rule's text."""
    return {text: ANSWER.search(answer)[1] for text, answer in tables("Differences")}


def expected(rule, heading):
    """The answer that a request that breaks the rule gets here."""
    return differences().get(rule) or rules(heading)[rule].answer


def agrees(answer, awaited):
    """Whether an answer is the awaited one, of which `4xx` stands for any status from 400 to 499."""
    return answer[0] == awaited[0] and answer[:3].isdigit() if awaited.endswith("xx") else answer == awaited


@dataclass
class Case:
    """Requests that break a rule, and requests that keep it."""

    broken: list = field(default_factory=list)
    kept: list = field(default_factory=list)
    needs_registered_key: bool = False
