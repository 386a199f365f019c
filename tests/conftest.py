"""Workers of pytest share the processors already: numerical libraries keep to one thread each."""

import os

for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(name, "1")

# For the inner sessions of test_pytest_plugin.py; allowed here because `testpaths` makes this an initial conftest.
pytest_plugins = ["pytester"]
