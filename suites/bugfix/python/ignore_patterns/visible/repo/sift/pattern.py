"""One line of a .siftignore."""

from fnmatch import fnmatch


class Pattern:
    def __init__(self, line):
        self.takes_back = line.startswith("!")
        if self.takes_back:
            line = line[1:]
        self.folders_only = line.endswith("/")
        self.anchored = "/" in line
        self.glob = line.strip("/")

    def matches(self, path, is_folder):
        if self.folders_only and not is_folder:
            return False
        if self.anchored:
            return fnmatch(path, self.glob)
        return fnmatch(path.rsplit("/", 1)[-1], self.glob)
