"""The errors that dpaudit raises on purpose; each message says what is wrong, where, and what to do."""


class DpauditError(Exception):
    """The call, the plan, the data or the target cannot be used (command line: exit status 2).

    Examples
    --------
    >>> import dpaudit
    >>> issubclass(dpaudit.PlanError, dpaudit.DpauditError)
    True
    """


class DataError(DpauditError):
    """Rankings or a data file are malformed.

    Examples
    --------
    >>> import dpaudit
    >>> dpaudit.rankings.read_profile("missing.soc")
    Traceback (most recent call last):
        ...
    dpaudit.errors.DataError: missing.soc: there is no such file at missing.soc; check the path
    """


class ParameterError(DpauditError, ValueError):
    """A parameter has a value that it cannot take.

    Examples
    --------
    >>> import dpaudit
    >>> dpaudit.Integers(6, 1)
    Traceback (most recent call last):
        ...
    dpaudit.errors.ParameterError: Integers needs low <= high, got 6 and 1
    """


class PlanError(DpauditError):
    """An audit plan is malformed or names something that does not exist.

    Examples
    --------
    >>> import dpaudit
    >>> dpaudit.check("missing.toml")
    Traceback (most recent call last):
        ...
    dpaudit.errors.PlanError: missing.toml: cannot read the plan (No such file or directory)
    """


class TargetError(DpauditError):
    """A target cannot be found, imported or used.

    Examples
    --------
    >>> import dpaudit
    >>> dpaudit.load("no-such-target")
    Traceback (most recent call last):
        ...
    dpaudit.errors.TargetError: unknown target 'no-such-target' (did you mean 'noisy-pairwise'?); ...
    """


class RecordError(DpauditError):
    """A file is not a record that this version can read.

    Examples
    --------
    >>> import dpaudit
    >>> dpaudit.read_record("missing.json")
    Traceback (most recent call last):
        ...
    dpaudit.errors.RecordError: missing.json: cannot read the record (No such file or directory)
    """


class WitnessError(DpauditError):
    """A file is not a witness that this version can check.

    Examples
    --------
    >>> import dpaudit
    >>> dpaudit.verify("missing.json")
    Traceback (most recent call last):
        ...
    dpaudit.errors.WitnessError: missing.json: cannot read the witness (No such file or directory)
    """


class OutputError(DpauditError):
    """A file or folder cannot be written.

    Examples
    --------
    >>> import dpaudit
    >>> issubclass(dpaudit.OutputError, dpaudit.DpauditError)
    True
    """


class CheckError(DpauditError):
    """A target breaks the contract of `dpaudit.Mechanism` while it runs (wrong shape, NaN, a law that is none).

    Examples
    --------
    >>> import dpaudit
    >>> dpaudit.compare(dpaudit.GaussianLaw(0.0, 1.0), dpaudit.LaplaceLaw(0.0, 1.0))
    Traceback (most recent call last):
        ...
    dpaudit.errors.CheckError: a GaussianLaw cannot be compared with a LaplaceLaw; ...
    """


class TargetRaisedError(DpauditError):
    """The target's own code raised, or ended its process (command line: verdict ``error``, exit status 4).

    Examples
    --------
    >>> import dpaudit
    >>> issubclass(dpaudit.TargetRaisedError, dpaudit.DpauditError)
    True
    """


class TimeLimitError(DpauditError):
    """The time was over before anything was audited (command line: exit status 3)."""
