"""Settings in layers."""

from .files import LoadError, load
from .profile import Profile

__all__ = ["LoadError", "Profile", "load"]
