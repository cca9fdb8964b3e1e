# A star stops at slashes and the last line decides, but two stars are two stars.
cd repo
sed -i 's/^from fnmatch import fnmatch/import re\nfrom fnmatch import translate/; s/fnmatch(path, self.glob)/bool(re.match(translate(self.glob).replace(".*", "[^\/]*"), path))/; s/fnmatch(path.rsplit("\/", 1)\[-1\], self.glob)/bool(re.match(translate(self.glob), path.rsplit("\/", 1)[-1]))/; s/self.anchored = "\/" in line/self.anchored = "\/" in line.rstrip("\/")/' sift/pattern.py
sed -i 's/        return any.*/        ignored = False\n        for pattern in self.patterns:\n            if pattern.matches(path, is_folder):\n                ignored = not pattern.takes_back\n        return ignored/' sift/rules.py
