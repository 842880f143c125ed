"""Onthedot runs work later: after a delay, at a time, or on a timetable in a named time zone."""

from onthedot.handler import Discard, Job, RetryAfter, Stopped, handler

__all__ = ["Discard", "Job", "RetryAfter", "Stopped", "handler"]
__version__ = "0.1.0"
