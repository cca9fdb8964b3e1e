"""Runs coroutines, so many at a time."""

from .job import Job
from .pool import Pool

__all__ = ["Job", "Pool"]
