"""Profiles from a JSON text."""

import json

from .profile import Profile


class LoadError(ValueError):
    """The text does not describe profiles."""


def load(text):
    """All profiles of the text, by name."""
    try:
        data = json.loads(text)
    except ValueError as error:
        raise LoadError(f"this is no JSON: {error}") from error
    made = {}

    def make(name, waiting):
        if name in made:
            return made[name]
        if name not in data:
            raise LoadError(f"there is no profile `{name}`")
        if name in waiting:
            raise LoadError(f"`{name}` is its own base")
        entry = data[name]
        base = None
        if "base" in entry:
            base = make(entry["base"], waiting | {name})
        settings = entry.get("settings", {}) if "base" in entry or "settings" in entry else entry
        made[name] = Profile(name, settings, base)
        return made[name]

    for name in data:
        make(name, set())
    return made
