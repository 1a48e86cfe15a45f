"""`python -m cfq_lint`."""

import sys

from cfq_lint.cli import main

sys.exit(main())
