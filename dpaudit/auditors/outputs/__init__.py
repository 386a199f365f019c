"""Outputs of any kind as numbered outcomes and as rows of numbers, checked before anything is learned from them.

`checked_outputs` checks what a sampler or a file gives, `flat` takes structured outputs apart, `columns` makes rows of
numbers of them, and `outputs` is what scores look at.
"""
