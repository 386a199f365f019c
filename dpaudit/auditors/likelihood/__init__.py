"""Bounds from samples whose likelihood ratio is known."""
