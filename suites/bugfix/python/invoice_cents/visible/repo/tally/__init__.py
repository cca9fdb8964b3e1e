"""Invoices, added up to the cent."""

from .invoice import Invoice, Line, add_up

__all__ = ["Invoice", "Line", "add_up"]
