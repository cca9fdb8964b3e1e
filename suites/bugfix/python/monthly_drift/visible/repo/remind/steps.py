"""From one date to the next, by unit."""

from calendar import monthrange
from datetime import timedelta


def add_days(day, count):
    return day + timedelta(days=count)


def add_months(day, count):
    """The same day, so many months later; the last of the month if that is too short."""
    month = day.month + count
    year = day.year + month // 12
    month = month % 12
    if month == 0:
        month = 12
        year -= 1
    last = monthrange(year, month)[1]
    return day.replace(year=year, month=month, day=min(day.day, last))


def add_years(day, count):
    return add_months(day, 12 * count)
