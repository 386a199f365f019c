"""Lower bounds from outputs alone: the search for a pair of inputs, and the bound of one pair.

`audit` audits a claim, and `pair` bounds what one pair of inputs forces: `choosing` chooses events from some of the
samples, and `counting` counts them in the others, as `tasks` shares them out. `lower_bound`, `samples`, `curve_bounds`
and `one_run` are the functions for mechanisms without a claim.
"""
