"""python3 -m unittest discover -s tests -t ."""

import unittest
from datetime import date
from itertools import islice

from remind import Rule


def first(count, rule):
    return [day.isoformat() for day in islice(rule.dates(), count)]


class Rules(unittest.TestCase):
    def test_weekly(self):
        rule = Rule(date(2024, 2, 26), "weekly")
        self.assertEqual(first(3, rule), ["2024-02-26", "2024-03-04", "2024-03-11"])

    def test_monthly(self):
        rule = Rule(date(2023, 11, 15), "monthly")
        self.assertEqual(first(3, rule), ["2023-11-15", "2023-12-15", "2024-01-15"])

    def test_a_short_month(self):
        rule = Rule(date(2024, 1, 31), "monthly")
        self.assertEqual(first(2, rule), ["2024-01-31", "2024-02-29"])

    def test_every_second_year(self):
        rule = Rule(date(2020, 5, 1), "yearly", every=2)
        self.assertEqual(first(3, rule), ["2020-05-01", "2022-05-01", "2024-05-01"])

    def test_next_after(self):
        rule = Rule(date(2024, 1, 15), "monthly")
        self.assertEqual(rule.next_after(date(2024, 1, 15)), date(2024, 2, 15))
        self.assertEqual(rule.next_after(date(2020, 1, 1)), date(2024, 1, 15))
