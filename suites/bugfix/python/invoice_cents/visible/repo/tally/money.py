"""Amounts of money. Everything that leaves this module is whole cents."""


def number(value):
    """A quantity, price or percentage as it stands in the file."""
    if isinstance(value, str):
        value = value.replace(",", "")
    return float(value)


def to_cents(amount):
    """An amount in the currency's unit, rounded to cents."""
    return round(amount * 100)


def percent_of(cents, percent):
    """So many percent of an amount in cents, rounded to cents."""
    return round(cents * percent / 100)


def spread(total, weights):
    """Splits `total` cents in proportion to `weights`."""
    whole = sum(weights)
    if whole == 0:
        return [0 for _ in weights]
    return [round(total * weight / whole) for weight in weights]


def show(cents):
    """Cents as people write them: 123456 is 1,234.56."""
    return f"{cents / 100:,.2f}"
