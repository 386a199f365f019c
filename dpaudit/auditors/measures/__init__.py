"""Measured quantities against what a theorem or a figure says of them: utility, rates of growth, published numbers."""
