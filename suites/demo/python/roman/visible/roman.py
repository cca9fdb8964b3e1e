"""Roman numerals from 1 to 3999."""

SYMBOLS = [
    (1000, "M"), (900, "CM"), (500, "D"), (400, "CD"), (100, "C"), (90, "XC"),
    (50, "L"), (40, "XL"), (10, "X"), (9, "IX"), (5, "V"), (1, "I"),
]


def to_roman(number):
    if number < 1 or number >= 3999:
        raise ValueError("out of range")
    text = ""
    for value, symbol in SYMBOLS:
        while number > value:
            text += symbol
            number -= value
    return text
