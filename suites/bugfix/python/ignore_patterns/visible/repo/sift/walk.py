"""Goes through a folder."""

import os

from .rules import Rules

RULES = ".siftignore"


def walk(folder):
    """Yields (path, ignored) for every file below `folder`, unordered."""
    try:
        with open(os.path.join(folder, RULES), encoding="utf-8") as file:
            rules = Rules(file.read())
    except FileNotFoundError:
        rules = Rules("")
    return _inside(folder, "", rules, False)


def _inside(folder, prefix, rules, ignored):
    for entry in os.scandir(os.path.join(folder, prefix)):
        path = prefix + entry.name
        is_folder = entry.is_dir(follow_symlinks=False)
        left_out = ignored or rules.ignores(path, is_folder)
        if is_folder:
            yield from _inside(folder, path + "/", rules, left_out)
        else:
            yield path, left_out
