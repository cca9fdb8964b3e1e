# Rounds the reported amounts right, but neither credits nor the shares of a discount.
cd repo
sed -i 's/return round(amount \* 100)/return int(amount * 100 + 0.5 + 1e-6)/; s,return round(cents \* percent / 100),return int(cents * percent / 100 + 0.5),' tally/money.py
