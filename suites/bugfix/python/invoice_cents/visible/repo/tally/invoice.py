"""The rules by which an invoice is added up; the README explains them."""

from dataclasses import dataclass, field

from . import money


@dataclass
class Line:
    text: str
    quantity: object
    price: object
    rate: str
    amount: int = 0
    share: int = 0
    net: int = 0


@dataclass
class Invoice:
    currency: str
    lines: list
    discount_percent: object = None
    discount_amount: object = None
    discount: int = 0
    taxes: dict = field(default_factory=dict)
    total: int = 0

    @classmethod
    def from_file(cls, data):
        lines = [
            Line(
                text=line.get("text", ""),
                quantity=money.number(line.get("quantity", 1)),
                price=money.number(line["price"]),
                rate=rate_name(line.get("tax", 0)),
            )
            for line in data["lines"]
        ]
        discount = data.get("discount") or {}
        percent, amount = discount.get("percent"), discount.get("amount")
        return cls(
            currency=data.get("currency", "EUR"),
            lines=lines,
            discount_percent=None if percent is None else money.number(percent),
            discount_amount=None if amount is None else money.number(amount),
        )


def rate_name(value):
    """One name for `7.5`, `"7.50"` and `"7.500"`."""
    return f"{money.number(value):g}"


def add_up(invoice):
    for line in invoice.lines:
        line.amount = money.to_cents(line.quantity * line.price)
    weights = [max(line.amount, 0) for line in invoice.lines]
    if invoice.discount_percent is not None:
        invoice.discount = money.percent_of(sum(weights), invoice.discount_percent)
    elif invoice.discount_amount is not None:
        invoice.discount = money.to_cents(invoice.discount_amount)
    invoice.discount = min(invoice.discount, sum(weights))
    for line, share in zip(invoice.lines, money.spread(invoice.discount, weights)):
        line.share = share
        line.net = line.amount - share
    nets = {}
    for line in invoice.lines:
        nets[line.rate] = nets.get(line.rate, 0) + line.net
    invoice.taxes = {rate: money.percent_of(net, money.number(rate)) for rate, net in nets.items()}
    invoice.total = sum(line.net for line in invoice.lines) + sum(invoice.taxes.values())
    return invoice
