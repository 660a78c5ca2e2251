"""`python -m sandbox VERB`."""

import sys

from sandbox.cli import main
from sandbox.errors import SandboxError

if __name__ == "__main__":
    try:
        main(prog_name="python -m sandbox")
    except SandboxError as err:
        sys.exit(f"error: {err}")
