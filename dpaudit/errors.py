"""The errors that dpaudit raises on purpose; each message says what is wrong, where, and what to do."""


class DpauditError(Exception):
    """The call, the plan, the data or the target cannot be used (command line: exit status 2)."""


class DataError(DpauditError):
    """Rankings or a data file are malformed."""


class ParameterError(DpauditError, ValueError):
    """A parameter has a value that it cannot take."""


class PlanError(DpauditError):
    """An audit plan is malformed or names something that does not exist."""


class TargetError(DpauditError):
    """A target cannot be found, imported or used."""


class RecordError(DpauditError):
    """A file is not a record that this version can read."""


class WitnessError(DpauditError):
    """A file is not a witness that this version can check."""


class OutputError(DpauditError):
    """A file or folder cannot be written."""


class CheckError(DpauditError):
    """A target breaks the contract of `dpaudit.Mechanism` while it runs (wrong shape, NaN, a law that is none)."""


class TargetRaisedError(DpauditError):
    """The target's own code raised, or ended its process (command line: verdict ``error``, exit status 4)."""


class TimeLimitError(DpauditError):
    """The time was over before anything was audited (command line: exit status 3)."""
