"""Formulas in sentences, typeset as MathML, which needs neither script nor fonts of its own.

Statements are written as plain text: ``except with probability at most 2^(-6 μ), where θ* = θ / (2 - θ)``. A formula
begins wherever an expression can be read, and ends where it cannot be read any further. What is not understood stays as
it is written, and division stays on the line, so that no reading changes what is divided by what.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from html import escape

_TOKEN = re.compile(
    r"(?P<number>\d+(?:\.\d+)?(?:e-?\d+)?(?![\w.]*\w\.\w))"
    r"|(?P<word>[^\W\d_²]+)"
    r"|(?P<relation><=|>=|[=<>≤≥≠])"
    r"|(?P<sign>[-+−])"
    r"|(?P<times>[×·])"
    r"|(?P<mark>[\^/_!(),²√∫'*~]|\u0302)"
)
_FUNCTIONS = frozenset({"exp", "log", "ln", "min", "max", "sqrt"})
_NAMES = frozenset({"OPT", "Lap", "Pr", "nm", "dl", "dx"})
"""Names of more than one letter; other words end a formula."""

_INDEX = re.compile(r"_([^\W²](?:[^\W²]|,(?=\w))*)")
_DIGITS = re.compile(r"(\d+)")
_NUMBERED = re.compile(r"[\u0370-\u03ffg](?=\d)")
"""Greek letters, and log, take a number right behind them as their index."""

_GREEK = re.compile(r"[\u0370-\u03ff\u1f00-\u1fff]")
_ARTICLE = re.compile(r"[aAI]\s+[A-Za-z]{2}|[aA]\s+[^\W\d_]")
_SIGNS = {"<=": "≤", ">=": "≥", "-": "−"}
_WORTH = re.compile(r"<m(?:sup|sub|subsup|sqrt)>")
"""What makes a formula worth typesetting: an expression without it reads as well in plain text."""

_OPENING, _CLOSING = "<mrow><mo>(</mo>", "<mo>)</mo></mrow>"
_FUNCTION = tuple(f"<mi>{name}</mi>" for name in sorted(_FUNCTIONS))
_SPACE = '<mspace width="0.17em"/>'
_BREAK = "\x00"
"""Where a line may end: outside of brackets, before a relation or a sign."""

_LONGEST = 1000
_DEEPEST = 40
_REMEMBERED = 4096


class _UnreadableError(Exception):
    """No expression begins at a place."""


@dataclass(frozen=True, slots=True)
class _Token:
    kind: str
    text: str
    start: int
    end: int


@lru_cache(_REMEMBERED)
def typeset(text: str) -> str:
    """Return text as HTML, in which formulas are MathML and everything else is escaped."""
    if len(text) > _LONGEST:
        return escape(text)
    parts, done, at = [], 0, 0
    unreadable: set[int] = set()
    while at < len(text):
        if (at and text[at - 1].isalnum() and text[at].isalnum()) or not _TOKEN.match(text, at):
            at += 1
            continue
        reader = _Reader(text, at, unreadable)
        try:
            formula = reader.relation()
        except _UnreadableError:
            at += 1
            continue
        if _WORTH.search(formula):
            pieces = (f"<math>{piece}</math>" for piece in formula.split(_BREAK))
            parts += [escape(text[done:at]), " ".join(pieces)]
            done = reader.at
        at = max(reader.at, at + 1)
    return "".join([*parts, escape(text[done:])])


class _Reader:
    """Reads one expression from a text; ``at`` is where it ends, and no bracket is tried twice that was unreadable."""

    def __init__(self, text: str, at: int, unreadable: set[int]) -> None:
        self.text, self.at, self.unreadable, self.depth = text, at, unreadable, 0

    def relation(self) -> str:
        """Sums with relations between them."""
        return self._chain(self.sum, "relation")

    def sum(self) -> str:
        """Products with signs between them."""
        start = self._take("sign")
        sign = "" if start is None else _sign(start.text)
        return sign + self._chain(self.product, "sign")

    def product(self) -> str:
        """Factors one after the other, and what they are divided by."""
        factors = [self.power()]
        while True:
            here = self.at
            between = self._take("mark", "/") or self._take("times")
            try:
                factor = self.power()
                space = _SPACE if factor.startswith(_FUNCTION) else ""
                factors.append((_operator(between.text) if between else space) + factor)
            except _UnreadableError:
                self.at = here
                return "".join(factors)

    def power(self) -> str:
        """A primary with its powers."""
        base = self.primary()
        if self._at_once("!"):
            base += _operator("!")
        if self._at_once("^"):
            return f"<msup><mrow>{base}</mrow><mrow>{self._exponent()}</mrow></msup>"
        if self._at_once("²"):
            return f"<msup><mrow>{base}</mrow><mn>2</mn></msup>"
        return base

    def _exponent(self) -> str:
        sign = self._take("sign")
        return (_sign(sign.text) if sign else "") + _bare(self.primary())

    def primary(self) -> str:
        """A number, a name, a call of a function, or an expression in brackets."""
        token = self._next()
        if token is None or self.depth == _DEEPEST:
            raise _UnreadableError
        self.at = token.end
        self.depth += 1
        try:
            return self._primary(token)
        finally:
            self.depth -= 1

    def _primary(self, token: _Token) -> str:
        if token.kind == "number":
            return f"<mn>{escape(token.text)}</mn>"
        if token.text == "(":
            return self._bracketed(token.start)
        if token.text == "√":
            root = _bare(self.primary())
            return f"<msqrt>{root}{_operator('!') if self._at_once('!') else ''}</msqrt>"
        if token.text == "∫":
            return self._marked(_operator(token.text))
        if token.kind == "word":
            return self._named(token)
        raise _UnreadableError

    def _named(self, token: _Token) -> str:
        word = token.text
        if word == "sqrt":
            return f"<msqrt>{_bare(self.primary())}</msqrt>"
        if word in _FUNCTIONS:
            name = self._marked(f"<mi>{word}</mi>")
            argument = self.power()
            return f"{name}{'' if argument.startswith(_OPENING) else _SPACE}{argument}"
        touching = token.start > 0 and self.text[token.start - 1].isdigit()
        if len(word) > 1 and word not in _NAMES and not touching and not _GREEK.search(word):
            raise _UnreadableError
        if self.text[token.start - 1 : token.start] not in ("^", "-") and _ARTICLE.match(self.text, token.start):
            raise _UnreadableError
        letters = [word] if word in _NAMES else list(word)
        if len(letters) > 3:
            raise _UnreadableError
        *first, last = letters
        name = "".join(f"<mi>{letter}</mi>" for letter in first) + self._marked(f"<mi>{last}</mi>", suffix=True)
        if self.at < len(self.text) and self.text[self.at] == "(":
            here = self.at
            try:
                return name + self.primary()
            except _UnreadableError:
                self.at = here
        return name

    def _marked(self, name: str, *, suffix: bool = False) -> str:
        """A name with what stands at it: primes and stars, an index, and limits."""
        if suffix:
            while (mark := self._at_once("'*~\u0302")) and not (mark == "'" and self._at_once("s")):
                name = name.removesuffix("</mi>") + ("′" if mark == "'" else mark) + "</mi>"
        index = self._index()
        if not index:
            return name
        if self.text[self.at : self.at + 1] == "^":
            self.at += 1
            return f"<msubsup><mrow>{name}</mrow><mrow>{index}</mrow><mrow>{self._exponent()}</mrow></msubsup>"
        return f"<msub><mrow>{name}</mrow><mrow>{index}</mrow></msub>"

    def _index(self) -> str:
        found = _INDEX.match(self.text, self.at)
        if found is None and self.at and _NUMBERED.match(self.text, self.at - 1):
            found = _DIGITS.match(self.text, self.at)
        if found:
            self.at = found.end()
            return f"<mi>{escape(found[1])}</mi>"
        return ""

    def _bracketed(self, start: int) -> str:
        if start in self.unreadable:
            raise _UnreadableError
        try:
            parts = [self.relation()]
            while self._take("mark", ","):
                parts.append(self.relation())
            if self._take("mark", ")") is None:
                raise _UnreadableError
        except _UnreadableError:
            self.unreadable.add(start)
            raise
        return _OPENING + "<mo>,</mo>".join(parts) + _CLOSING

    def _chain(self, read: Callable[[], str], kind: str) -> str:
        parts = [read()]
        while True:
            here = self.at
            token = self._take(kind)
            try:
                if token is None:
                    raise _UnreadableError
                parts.append(_operator(token.text, "" if self.depth else ' form="infix"') + read())
            except _UnreadableError:
                self.at = here
                return ("" if self.depth else _BREAK).join(parts)

    def _next(self) -> _Token | None:
        start = self.at
        while start < len(self.text) and self.text[start] == " ":
            start += 1
        found = _TOKEN.match(self.text, start)
        if found is None or found.lastgroup is None:
            return None
        return _Token(found.lastgroup, found[0], start, found.end())

    def _take(self, kind: str, text: str = "") -> _Token | None:
        token = self._next()
        if token is None or token.kind != kind or (text and token.text != text):
            return None
        self.at = token.end
        return token

    def _at_once(self, marks: str) -> str:
        found = self.text[self.at : self.at + 1]
        if not found or found not in marks:
            return ""
        self.at += 1
        return found


def _operator(text: str, form: str = "") -> str:
    return f"<mo{form}>{escape(_SIGNS.get(text, text))}</mo>"


def _sign(text: str) -> str:
    return _operator(text, ' form="prefix"')


def _bare(formula: str) -> str:
    """A formula without the brackets around all of it, where a root or the height of a power takes their place."""
    if not (formula.startswith(_OPENING) and formula.endswith(_CLOSING)):
        return formula
    inner = formula[len(_OPENING) : -len(_CLOSING)]
    depth = 0
    for tag in re.findall(r"</?mrow>", inner):
        depth += 1 if tag == "<mrow>" else -1
        if depth < 0:
            return formula
    return inner
