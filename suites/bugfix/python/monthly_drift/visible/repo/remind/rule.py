"""What comes again, and when."""

from . import steps

UNITS = ("daily", "weekly", "monthly", "yearly")


class Rule:
    def __init__(self, start, unit, every=1, short="last", until=None):
        if unit not in UNITS:
            raise ValueError(f"`{unit}` is none of {', '.join(UNITS)}")
        if every < 1:
            raise ValueError("every must be at least 1")
        if short not in ("last", "skip"):
            raise ValueError("short must be `last` or `skip`")
        self.start = start
        self.unit = unit
        self.every = every
        self.short = short
        self.until = until

    def _step(self, day):
        if self.unit == "daily":
            return steps.add_days(day, self.every)
        if self.unit == "weekly":
            return steps.add_days(day, 7 * self.every)
        if self.unit == "monthly":
            return steps.add_months(day, self.every)
        return steps.add_years(day, self.every)

    def dates(self, until=None):
        """All dates in order, endless unless the rule or the caller says until when."""
        ends = [end for end in (self.until, until) if end]
        day = self.start
        while not ends or day < min(ends):
            if self.short == "last" or day.day == self.start.day:
                yield day
            day = self._step(day)

    def next_after(self, day):
        """The first date after `day`; None if there is none."""
        if day < self.start:
            return self.start
        following = self._step(day)
        if self.until and following > self.until:
            return None
        return following
