"""Figures of the HTML report, as SVG, each with the values that it is drawn from."""

from collections.abc import Callable

from dpaudit.reporting.figures.drawing import Figures
from dpaudit.reporting.figures.privacy import privacy_figures
from dpaudit.reporting.figures.published import published_figures
from dpaudit.reporting.figures.rates import rate_figures
from dpaudit.reporting.figures.trust import trust_figure
from dpaudit.reporting.figures.values import comparison_figures, value_figures
from dpaudit.reporting.groups import ClaimGroup

__all__ = ["Figures", "figures", "trust_figure"]


_DRAWINGS = (privacy_figures, rate_figures, value_figures, published_figures, comparison_figures)


def figures(claim: ClaimGroup) -> list[Figures]:
    """Return what can be drawn of a claim's results."""
    return [figure for draw in _DRAWINGS if (figure := _drawn(draw, claim)) is not None]


def _drawn(draw: Callable[[ClaimGroup], Figures | None], claim: ClaimGroup) -> Figures | None:
    """Return a drawing; None also where its numbers are beyond what floating point can scale to a page."""
    try:
        return draw(claim)
    except (ArithmeticError, ValueError):
        return None
