"""`python -m trainsleuth`: the same as the command `trainsleuth`."""

import os
import sys

from trainsleuth.cli import main

if __name__ == "__main__":
    if sys.path[0] == os.getcwd():  # put there by -m: the user's http.py must not stand in for Python's
        del sys.path[0]
    sys.exit(main())
