"""Do tools that bound epsilon from below keep their stated error probability, and what do they find?

Every case has a pair of inputs and a true epsilon that is worked out from the law of the outputs. A bound above it is a
false alarm; a bound above what a broken mechanism promises is a bug found. See `interface` for what a tool is.
"""
