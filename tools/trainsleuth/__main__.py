"""`python -m trainsleuth`: the same as the command `trainsleuth`."""

import sys

from trainsleuth.cli import main

if __name__ == "__main__":
    sys.exit(main())
