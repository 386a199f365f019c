"""The neighbouring inputs that the mechanisms declare; the one place that decides how they are declared."""

import dpaudit

LOW, HIGH = 0, 2
"""Range of a query's answer: it holds the seven input patterns of Ding et al. (2018), which lie in {0, 1, 2}."""


def vectors(length):
    """Whole answers to ``length`` queries, each of which changes by at most 1."""
    return dpaudit.Neighbouring.within(
        dpaudit.Vectors(length=length, low=LOW, high=HIGH, step=1, norm="linf", integer=True)
    )


def histograms(length):
    """Counts of ``length`` bins, one of which changes by 1."""
    return dpaudit.Neighbouring.within(
        dpaudit.Vectors(length=length, low=LOW, high=HIGH, step=1, norm="l1", integer=True)
    )


def any_two(values):
    """Any two inputs of one user (the local model)."""
    return dpaudit.Neighbouring.within(dpaudit.AnyTwo(values=values))


def two_numbers(x, y):
    """One pair, of which all others are translates."""
    return dpaudit.Neighbouring(relation="step 1", pairs=[(x, y)], complete=False, scope="one pair, up to translation")


def adjacent(top):
    """Counts from 0 to ``top`` that differ by one."""
    pairs = [(count, count + 1) for count in range(top)]
    return dpaudit.Neighbouring(relation="add-remove", pairs=pairs, complete=True, scope=f"all counts from 0 to {top}")
