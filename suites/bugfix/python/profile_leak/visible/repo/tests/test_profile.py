import unittest

from strata import LoadError, Profile, load


class Layers(unittest.TestCase):
    def setUp(self):
        self.common = Profile("common", {"db": {"host": "localhost", "port": 5432}, "tries": 3})
        self.staging = Profile("staging", {"db": {"host": "db.staging"}}, base=self.common)

    def test_upper_layers_win(self):
        self.assertEqual(self.staging.get("db.host"), "db.staging")
        self.assertEqual(self.staging.get("db.port"), 5432)

    def test_none_takes_away(self):
        self.staging.unset("tries")
        self.assertEqual(self.staging.get("tries", "none"), "none")

    def test_later_changes_of_the_base_are_seen(self):
        self.common.set("tries", 5)
        self.assertEqual(self.staging.get("tries"), 5)

    def test_load(self):
        profiles = load('{"a": {"x": 1}, "b": {"base": "a", "settings": {"y": 2}}}')
        self.assertEqual(profiles["b"].resolve(), {"x": 1, "y": 2})

    def test_load_refuses_circles(self):
        with self.assertRaises(LoadError):
            load('{"a": {"base": "b"}, "b": {"base": "a"}}')
