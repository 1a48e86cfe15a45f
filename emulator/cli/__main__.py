"""`python -m emulator.cli`: the same as `cfq-emulator`."""

import sys

from emulator.cli import main

sys.exit(main())
