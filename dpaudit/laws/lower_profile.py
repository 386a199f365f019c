"""What follows for divergences of two laws from lower bounds on their privacy profile."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Self

import numpy as np

_POINTS = 1024
_LARGEST_EPSILON = 500.0
_ROUNDING = 1e-9
_ROOT = 1e-12
"""Relative distance of a point before a root, above rounding, so that the bound there is not below 0."""

_ORDERS, _REFINEMENTS = 24, 4
_LEAST_ORDER, _LARGEST_ORDER = 1e-3, 1e3
"""Orders, less 1, between which the best one for zero-concentrated privacy is looked for."""


@dataclass(frozen=True, slots=True, eq=False)
class Segments:
    """A lower bound on a hockey-stick divergence as a function of z = e^epsilon >= 1, linear between points.

    Attributes
    ----------
    z
        Points, ascending from 1, shape (k + 1,); the bound is 0 beyond the last.
    left, right
        Its values at the left and at the right end of every segment, shape (k,); it need not be continuous.
    """

    z: np.ndarray
    left: np.ndarray
    right: np.ndarray

    @classmethod
    def below(cls, z: np.ndarray, p: np.ndarray, q: np.ndarray) -> Self:
        """Take from several events, in each interval between points, the one that bounds most.

        Parameters
        ----------
        z
            Points, with the :func:`roots` among them.
        p, q
            Corners of the regions of each event's probabilities, shape (events, corners).

        Notes
        -----
        What an event bounds, the least p_j - z q_j, is concave in z: the line between two of its values is below it.
        """
        left, right = np.zeros(len(z) - 1), np.zeros(len(z) - 1)
        for of_p, of_q in zip(p, q, strict=True):
            values = (of_p[:, None] - of_q[:, None] * z).min(axis=0)
            better = (values[:-1] + values[1:] > left + right) & (values[:-1] >= 0) & (values[1:] >= 0)
            left, right = np.where(better, values[:-1], left), np.where(better, values[1:], right)
        return cls(z, left * (1 - _ROUNDING), right * (1 - _ROUNDING))

    def larger(self, other: Segments) -> Segments:
        """The larger of two bounds over the same points, segment by segment."""
        first = self.left + self.right >= other.left + other.right
        return Segments(self.z, np.where(first, self.left, other.left), np.where(first, self.right, other.right))

    def log_moment(self, powers: np.ndarray) -> np.ndarray:
        """Logarithms of lower bounds on the integrals of z^power times the bound, shape (k,); ``-inf`` for 0.

        Where the power of z is convex, Jensen's inequality bounds the integral over a segment by the value at the
        centroid of the bound, and elsewhere (powers between 0 and 1) the chord does.
        """
        width = np.diff(self.z)
        total = (self.left + self.right) / 2
        kept = total > 0
        if not kept.any():
            return np.full(powers.shape, -np.inf)
        low, width, total = self.z[:-1][kept], width[kept], total[kept]
        place = (self.left[kept] + 2 * self.right[kept]) / (6 * total)
        mass, power = np.log(total * width), powers[:, None]
        terms = power * np.log(low + place * width) + mass
        concave = (powers > 0) & (powers < 1)
        if concave.any():
            ends = power[concave] * np.log(low), power[concave] * np.log(low + width)
            terms[concave] = np.logaddexp(ends[0] + np.log1p(-place), ends[1] + np.log(place)) + mass
        most = terms.max(axis=1)
        summed: np.ndarray = most + np.log(np.exp(terms - most[:, None]).sum(axis=1))
        return summed


def roots(p: np.ndarray, q: np.ndarray) -> np.ndarray:
    """Where the lower bound on p - z q that corners give falls to 0, or just before, of each event, shape (events,)."""
    with np.errstate(divide="ignore"):
        found: np.ndarray = (p / q).min(axis=1) * (1 - _ROOT)
    return found


@dataclass(frozen=True, slots=True, eq=False)
class LowerProfile:
    """Lower bounds on the hockey-stick divergences of two laws in both directions.

    Attributes
    ----------
    forward, backward
        Of P against Q, and of Q against P, over the same points.

    Notes
    -----
    **Guarantee.** Where both are true, so is everything that follows from them. Every f-divergence is an integral of
    the hockey-stick divergences with weights that are not negative.
    **Checked against** closed forms for Gaussian laws and randomized response.

    References
    ----------
    Sason, Verdu, "f-divergence inequalities", IEEE Transactions on Information Theory 2016, Section VII.
    """

    forward: Segments
    backward: Segments

    @classmethod
    def from_corners(
        cls, forward: tuple[np.ndarray, np.ndarray], backward: tuple[np.ndarray, np.ndarray]
    ) -> LowerProfile:
        """Make the bounds from regions of the probabilities of events.

        Parameters
        ----------
        forward, backward
            Corners (p, q) of the events that are likelier under P, and of those likelier under Q with their probability
            under Q first; each array of shape (events, corners).
        """
        ends = np.concatenate([roots(*forward), roots(*backward)])
        ends = ends[(ends > 1) & (ends < math.exp(_LARGEST_EPSILON))]
        z = np.ones(1)
        if ends.size:
            z = np.unique(np.r_[np.exp(np.linspace(0.0, math.log(ends.max()), _POINTS)), ends])
            z = z[z <= ends.max()]
        return cls(Segments.below(z, *forward), Segments.below(z, *backward))

    def renyi(self, orders: np.ndarray) -> np.ndarray:
        """Lower bounds on the larger of both Renyi divergences of orders >= 1 (1 is Kullback and Leibler's), (k,).

        The sum of p^a q^(1 - a) is 1 + a (a - 1) times the integral over z > 0 of z^(a - 2) times what the hockey-stick
        divergence is above max(0, 1 - z); the part below 1 is the other direction's, with w = 1 / z and w^(-a - 1).
        """
        orders = np.asarray(orders, float)
        found = np.zeros(orders.shape)
        for one, other in ((self.forward, self.backward), (self.backward, self.forward)):
            log_integral = np.logaddexp(one.log_moment(orders - 2), other.log_moment(-orders - 1))
            excess = orders - 1
            with np.errstate(divide="ignore", over="ignore", invalid="ignore"):
                grown = np.logaddexp(0.0, np.log(orders * excess) + log_integral) / excess
            # At order 1 the quotient's limit is the integral.
            limit = np.exp(one.log_moment(np.array([-1.0])))[0] + np.exp(other.log_moment(np.array([-2.0])))[0]
            found = np.maximum(found, np.where(excess > 0, grown, limit))
        return found * (1 - _ROUNDING)

    def concentration(self) -> float:
        """Lower bound on the least rho for which every Renyi divergence of order a is at most rho a."""
        low, high, best = _LEAST_ORDER, _LARGEST_ORDER, 0.0
        for _ in range(_REFINEMENTS):
            orders = 1 + np.geomspace(low, high, _ORDERS)
            values = self.renyi(orders) / orders
            i = int(np.argmax(values))
            best = max(best, float(values[i]))
            low, high = orders[max(i - 1, 0)] - 1, orders[min(i + 1, _ORDERS - 1)] - 1
        return best * (1 - _ROUNDING)

    def trade_off(self, type_one: np.ndarray) -> np.ndarray:
        """Upper bounds on the least type II error, in the worse of both directions, at type I errors in [0, 1]; (k,).

        In one direction it is the supremum over epsilons >= 0 of 1 - delta - e^epsilon a, with the delta of this
        direction, and of e^-epsilon (1 - delta - a), with that of the other one.

        References
        ----------
        Dong, Roth, Su, "Gaussian differential privacy", JRSS B 2022, Section 2 (duality with privacy profiles).
        """
        a = type_one[:, None]
        found = 1 - type_one
        for one, other in ((self.forward, self.backward), (self.backward, self.forward)):
            most = np.zeros(len(type_one))
            # Both lines are monotone or convex in z along a segment, where delta is linear: their ends decide.
            for each, line in ((one, _falling), (other, _rising)):
                for z, delta in ((each.z[:-1], each.left), (each.z[1:], each.right), (each.z[-1:], np.zeros(1))):
                    most = np.maximum(most, line(z, delta, a).max(axis=1, initial=0.0))
            found = np.minimum(found, most * (1 + _ROUNDING))
        return found


def _falling(z: np.ndarray, delta: np.ndarray, type_one: np.ndarray) -> np.ndarray:
    return np.asarray(1 - delta - z * type_one)


def _rising(z: np.ndarray, delta: np.ndarray, type_one: np.ndarray) -> np.ndarray:
    return np.asarray((1 - delta - type_one) / z)
