"""`python -m fsgreen`."""

import sys

from fsgreen.cli import main

sys.exit(main())
