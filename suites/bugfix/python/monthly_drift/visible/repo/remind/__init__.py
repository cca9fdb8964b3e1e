"""Dates that come again."""

from .rule import Rule

__all__ = ["Rule"]
