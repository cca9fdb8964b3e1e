"""Lists files, without those that a pattern file names."""

from .rules import Rules
from .walk import walk

__all__ = ["Rules", "walk"]
