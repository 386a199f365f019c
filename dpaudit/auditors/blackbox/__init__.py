"""Lower bounds from outputs alone: the search for a pair of inputs, and the bound of one pair.

`audit` audits a claim, `pair` bounds what one pair of inputs forces, `lower_bound`, `samples`, `curve_bounds` and
`one_run` are the functions for mechanisms without a claim.
"""
