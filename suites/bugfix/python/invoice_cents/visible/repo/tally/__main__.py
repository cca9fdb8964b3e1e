"""`python3 -m tally [--json] FILE`"""

import argparse
import json
import sys

from .invoice import Invoice, add_up
from .report import as_json, as_text


def main():
    parser = argparse.ArgumentParser(prog="tally")
    parser.add_argument("file")
    parser.add_argument("--json", action="store_true", help="print whole cents as JSON")
    options = parser.parse_args()
    with open(options.file, encoding="utf-8") as file:
        data = json.load(file)
    invoice = add_up(Invoice.from_file(data))
    sys.stdout.write(as_json(invoice) if options.json else as_text(invoice))


main()
