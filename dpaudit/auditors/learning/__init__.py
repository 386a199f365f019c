"""Learning an event that tells two samples apart, as the black-box auditor does for one pair of inputs.

`scores` is the interface of a score, `score_families` lists all families of them, `contest` lets these compete,
`counts` says what their events promise, and `selection` chooses the events that are tested.
"""
