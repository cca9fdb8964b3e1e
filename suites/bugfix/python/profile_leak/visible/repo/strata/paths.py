"""Dotted names: `db.host` is `host` in the dict `db`."""


def split(name):
    parts = name.split(".")
    if not all(parts):
        raise ValueError(f"`{name}` is no name of a setting")
    return parts


def find(tree, name, fallback=None):
    for part in split(name):
        if not isinstance(tree, dict) or part not in tree:
            return fallback
        tree = tree[part]
    return tree


def place(tree, name, value):
    *way, last = split(name)
    for part in way:
        if not isinstance(tree.get(part), dict):
            tree[part] = {}
        tree = tree[part]
    tree[last] = value
