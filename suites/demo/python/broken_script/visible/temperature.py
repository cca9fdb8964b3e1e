import sys

def to_celsius(fahrenheit)
    return (fahrenheit - 32) * 5 / 9

for line in sys.stdin:
    value = line.strip()
    if value = "":
        continue
    print(f"{to_celsius(value):.1f}")
