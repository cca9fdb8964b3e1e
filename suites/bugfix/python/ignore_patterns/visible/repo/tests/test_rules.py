"""python3 -m unittest discover -s tests -t ."""

import unittest

from sift import Rules


class Names(unittest.TestCase):
    def test_a_name_at_any_depth(self):
        rules = Rules("*.pyc\n")
        self.assertTrue(rules.ignores("a.pyc", False))
        self.assertTrue(rules.ignores("deep/down/a.pyc", False))
        self.assertFalse(rules.ignores("a.py", False))

    def test_folders_only(self):
        rules = Rules("cache/\n")
        self.assertTrue(rules.ignores("cache", True))
        self.assertFalse(rules.ignores("cache", False))

    def test_comments(self):
        self.assertFalse(Rules("# a.txt\n\n").ignores("a.txt", False))

    def test_sets(self):
        rules = Rules("[a-c]?.txt\n")
        self.assertTrue(rules.ignores("b1.txt", False))
        self.assertFalse(rules.ignores("d1.txt", False))
