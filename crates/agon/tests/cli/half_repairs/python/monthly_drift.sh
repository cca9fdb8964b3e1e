# Counts months from the start, but not years, and next_after is as it was.
cd repo
sed -i 's/^        day = self.start$/        day, turn = self.start, 0/; s/day < min(ends)/day <= min(ends)/; s/            day = self._step(day)/            turn += 1\n            day = steps.add_months(self.start, turn * self.every) if self.unit == "monthly" else self._step(day)/' remind/rule.py
