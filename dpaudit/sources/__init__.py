"""Where outputs come from that no Python function of the user's draws."""
