# Run me with: python3 bin/report.py
print("nothing to report")
