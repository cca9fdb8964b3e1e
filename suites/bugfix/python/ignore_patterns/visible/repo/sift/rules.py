"""The lines of a .siftignore, and what they decide."""

from .pattern import Pattern


class Rules:
    def __init__(self, text):
        self.patterns = []
        for line in text.splitlines():
            line = line.strip()
            if line and not line.startswith("#"):
                self.patterns.append(Pattern(line))

    def ignores(self, path, is_folder):
        """Whether the path, relative to the folder of the rules, is left out."""
        return any(pattern.matches(path, is_folder) for pattern in self.patterns)
