"""The command line."""

import argparse
from datetime import date
from itertools import islice

from .rule import UNITS, Rule


def main():
    parser = argparse.ArgumentParser(prog="remind")
    parser.add_argument("start", type=date.fromisoformat)
    parser.add_argument("unit", choices=UNITS)
    parser.add_argument("--every", type=int, default=1)
    parser.add_argument("--count", type=int)
    parser.add_argument("--until", type=date.fromisoformat)
    parser.add_argument("--after", type=date.fromisoformat)
    parser.add_argument("--short", choices=("skip", "last"), default="last")
    options = parser.parse_args()
    rule = Rule(options.start, options.unit, options.every, options.short, options.until)
    count = options.count
    if count is None and options.until is None:
        count = 10
    found = (day for day in rule.dates() if options.after is None or day > options.after)
    for day in islice(found, count):
        print(day.isoformat())


main()
