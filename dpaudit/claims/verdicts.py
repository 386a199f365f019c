"""The seven verdicts, the word that stands in for one, and the exit status that follows."""

from __future__ import annotations

from enum import StrEnum

from dpaudit.errors import DpauditError, TargetRaisedError, TimeLimitError


class Verdict(StrEnum):
    """What an audit concludes about one claim at one set of parameters.

    Examples
    --------
    >>> import dpaudit
    >>> dpaudit.Verdict.REFUTED.meaning
    'there is a witness that the reader can recompute'
    >>> dpaudit.Verdict("proved") is dpaudit.Verdict.PROVED
    True
    """

    PROVED = "proved"
    CERTIFIED = "certified"
    CONSISTENT = "consistent"
    REFUTED = "refuted"
    VACUOUS = "vacuous"
    INAPPLICABLE = "inapplicable"
    INCONCLUSIVE = "inconclusive"
    ERROR = "error"
    """No verdict: the target or its check raised."""

    @property
    def meaning(self) -> str:
        """One plain sentence, as reports print it."""
        return _MEANINGS[self]


_MEANINGS = {
    Verdict.PROVED: "computed exactly, for every neighbouring pair and event in the stated scope",
    Verdict.CERTIFIED: "not exact for every input, but computed or bounded with confidence for the stated ones",
    Verdict.CONSISTENT: "no violation found; the detection limit says what the event chosen would have shown, and "
    "others may show more",
    Verdict.REFUTED: "there is a witness that the reader can recompute",
    Verdict.VACUOUS: "true, but it says nothing there",
    Verdict.INAPPLICABLE: "the claim's own assumptions do not hold there",
    Verdict.INCONCLUSIVE: "the budget was too small to say, or every output is new and hides what it depends on, where "
    "no budget helps but `features` or `supports` do; not a pass",
    Verdict.ERROR: "the target or its check raised; no verdict",
}

EXIT_EXPECTED, EXIT_UNEXPECTED, EXIT_UNUSABLE, EXIT_INCONCLUSIVE, EXIT_ERROR = 0, 1, 2, 3, 4
EXIT_INTERRUPTED = 130
_WORST_FIRST = (EXIT_UNEXPECTED, EXIT_UNUSABLE, EXIT_ERROR, EXIT_INCONCLUSIVE, EXIT_EXPECTED)


def status_of(verdict: Verdict, expected: Verdict | None) -> int:
    """Exit status that one result stands for.

    A result without an expectation is unexpected only when it is ``refuted``. An ``inconclusive`` result never
    counts as a pass, even where it was expected.
    """
    if verdict is Verdict.ERROR:
        return EXIT_ERROR
    if verdict is Verdict.INCONCLUSIVE:
        return EXIT_INCONCLUSIVE
    if expected is None:
        return EXIT_UNEXPECTED if verdict is Verdict.REFUTED else EXIT_EXPECTED
    return EXIT_EXPECTED if verdict is expected else EXIT_UNEXPECTED


def status_of_error(error: DpauditError) -> int:
    """Exit status of a command that an error ended."""
    if isinstance(error, TargetRaisedError):
        return EXIT_ERROR
    return EXIT_INCONCLUSIVE if isinstance(error, TimeLimitError) else EXIT_UNUSABLE


def worst_status(statuses: list[int]) -> int:
    """Return the status that decides a run: 1 before 2 before 4 before 3 before 0."""
    return min(statuses, key=_WORST_FIRST.index, default=EXIT_EXPECTED)
