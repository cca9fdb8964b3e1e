"""The command line."""

import argparse
import os
import sys

from .walk import walk


def main():
    parser = argparse.ArgumentParser(prog="sift")
    parser.add_argument("folder")
    parser.add_argument("--show", choices=("kept", "ignored"), default="kept")
    options = parser.parse_args()
    wanted = options.show == "ignored"
    paths = sorted(os.fsencode(path) for path, ignored in walk(options.folder) if ignored == wanted)
    sys.stdout.buffer.write(b"".join(path + b"\n" for path in paths))


main()
