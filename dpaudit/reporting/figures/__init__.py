"""Figures of the HTML report, as SVG, each with the values that it is drawn from."""

from dpaudit.reporting.figures.drawing import Figures
from dpaudit.reporting.figures.privacy import privacy_figures
from dpaudit.reporting.figures.rates import rate_figures
from dpaudit.reporting.figures.trust import trust_figure
from dpaudit.reporting.figures.values import value_figures
from dpaudit.reporting.groups import ClaimGroup

__all__ = ["Figures", "figures", "trust_figure"]


def figures(claim: ClaimGroup) -> list[Figures]:
    """Return what can be drawn of a claim's results."""
    drawn = (privacy_figures(claim), rate_figures(claim), value_figures(claim))
    return [figure for figure in drawn if figure is not None]
