"""Putting one layer on top of another."""


def merge(lower, upper):
    """`upper` on top of `lower`; dicts are merged, everything else is replaced."""
    merged = dict(lower)
    for key, value in upper.items():
        if value is None:
            merged.pop(key, None)
        elif isinstance(value, dict) and isinstance(merged.get(key), dict):
            merged[key] = merge(merged[key], value)
        else:
            merged[key] = value
    return merged
