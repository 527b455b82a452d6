"""`python -m augury` is the `augury` command."""

import sys

from augury.cli import main

if __name__ == "__main__":
    sys.exit(main())
