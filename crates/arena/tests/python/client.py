"""The example's client."""

import sys

from arena_client import main

sys.exit(main())
