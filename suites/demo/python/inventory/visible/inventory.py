"""Keeps stock from a list of movements.

Usage: python3 inventory.py FILE

Each line of FILE is one movement:

    in ITEM COUNT PRICE      COUNT pieces arrive, bought at PRICE cents each
    out ITEM COUNT           COUNT pieces leave, the oldest first
    count ITEM COUNT         a stock-taking: there are COUNT pieces; what is missing is lost
                             (oldest first), what is too much was found and cost nothing

Empty lines and lines that start with # are skipped. At the end a line "ITEM COUNT VALUE" is printed
for each item that was ever mentioned, sorted by item: pieces in stock and their value in cents. A
movement that can't be (more pieces leave than there are, a negative count) is skipped, and
"line N: refused" goes to standard error; the program then ends with status 1 instead of 0.
"""
import sys

stock = {}


def arrive(item, count, price, lots=[]):
    stock.setdefault(item, lots).append([count, price])


def leave(item, count):
    lots = stock[item]
    while count > 0:
        lot = lots[-1]
        taken = min(lot[0], count)
        lot[0] -= taken
        count -= taken
        if lot[0] == 0:
            lots.remove(lot)


def main(path):
    for number, line in enumerate(open(path)):
        if line.startswith("#"):
            continue
        kind, item, *rest = line.split()
        if kind == "in":
            arrive(item, int(rest[0]), int(rest[1]))
        elif kind == "out":
            leave(item, int(rest[0]))
        elif kind == "count":
            have = len(stock[item])
            leave(item, have - int(rest[0]))
    for item in stock:
        print(item, sum(lot[0] for lot in stock[item]), sum(lot[0] * lot[1] for lot in stock[item]))


main(sys.argv[1])
