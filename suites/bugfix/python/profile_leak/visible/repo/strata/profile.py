"""A named layer of settings on top of another."""

from .merge import merge
from .paths import find, place


class Profile:
    def __init__(self, name, settings={}, base=None):
        self.name = name
        self.base = base
        self.settings = settings

    def resolve(self):
        """All settings, those of the base included."""
        below = self.base.resolve() if self.base else {}
        return merge(below, self.settings)

    def get(self, name, fallback=None):
        return find(self.resolve(), name, fallback)

    def set(self, name, value):
        place(self.settings, name, value)

    def unset(self, name):
        place(self.settings, name, None)

    def append(self, name, value):
        items = self.get(name)
        if isinstance(items, list):
            items.append(value)
        else:
            items = [value]
        self.set(name, items)

    def __repr__(self):
        below = f" on {self.base.name}" if self.base else ""
        return f"<Profile {self.name}{below}>"
