"""python3 -m unittest discover -s tests -t ."""

import unittest

from tally.invoice import Invoice, add_up
from tally.money import show


def total(lines, **more):
    return add_up(Invoice.from_file({"lines": lines, **more})).total


class Totals(unittest.TestCase):
    def test_one_line(self):
        self.assertEqual(total([{"price": "19.90", "quantity": 2, "tax": 0}]), 3980)

    def test_tax(self):
        self.assertEqual(total([{"price": 100, "tax": 19}]), 11900)

    def test_discount_by_amount(self):
        self.assertEqual(total([{"price": 100, "tax": 19}], discount={"amount": 50}), 5950)

    def test_a_discount_is_never_more_than_there_is(self):
        self.assertEqual(total([{"price": 10, "tax": 19}], discount={"amount": 50}), 0)

    def test_thousands(self):
        self.assertEqual(total([{"price": "1,250.00"}]), 125000)
        self.assertEqual(show(123456), "1,234.56")
