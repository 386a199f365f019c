"""Drawing outputs: from which random stream, how many, for how long, and by which process."""
