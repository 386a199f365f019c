"""Search for inputs under which a statement about a function fails: lemmas, and stability under neighbouring inputs."""
