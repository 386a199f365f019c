"""Processes that load and run targets, so that no target can end, silence or change the process that judges it."""

from dpaudit.runner.processes.starting import Spawned
from dpaudit.runner.processes.team import Answer, Ended, Finished, Overdue, Raised, Request, Team

__all__ = ["Answer", "Ended", "Finished", "Overdue", "Raised", "Request", "Spawned", "Team"]
