"""An invoice that was added up, as text and as JSON."""

import json

from .money import show


def as_text(invoice):
    rows = [(line.text, show(line.net)) for line in invoice.lines]
    if invoice.discount:
        rows.append((f"(includes a discount of {show(invoice.discount)})", ""))
    rows += [(f"tax {rate} %", show(tax)) for rate, tax in invoice.taxes.items()]
    rows.append((f"total {invoice.currency}", show(invoice.total)))
    left = max(len(text) for text, _ in rows)
    right = max(len(amount) for _, amount in rows)
    return "\n".join(f"{text:<{left}}  {amount:>{right}}".rstrip() for text, amount in rows) + "\n"


def as_json(invoice):
    lines = [{"amount": line.amount, "share": line.share, "net": line.net} for line in invoice.lines]
    record = {
        "lines": lines,
        "discount": invoice.discount,
        "taxes": invoice.taxes,
        "total": invoice.total,
    }
    return json.dumps(record, sort_keys=True) + "\n"
