"""Figures of the HTML report, as SVG, each with the values that it is drawn from."""

from dpaudit.reporting.figures.drawing import Figures
from dpaudit.reporting.figures.privacy import privacy_figures
from dpaudit.reporting.figures.published import published_figures
from dpaudit.reporting.figures.rates import rate_figures
from dpaudit.reporting.figures.trust import trust_figure
from dpaudit.reporting.figures.values import beside_figures, value_figures
from dpaudit.reporting.groups import ClaimGroup

__all__ = ["Figures", "figures", "trust_figure"]


_DRAWINGS = (privacy_figures, rate_figures, value_figures, published_figures, beside_figures)


def figures(claim: ClaimGroup) -> list[Figures]:
    """Return what can be drawn of a claim's results."""
    return [figure for draw in _DRAWINGS if (figure := draw(claim)) is not None]
