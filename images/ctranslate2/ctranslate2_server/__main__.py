"""`python -m ctranslate2_server MODEL …`, in the image as `ctranslate2-server`."""

import logging
import os
import sys

from ctranslate2_server.options import options_from
from ctranslate2_server.serving import Serving


def main() -> None:
    """Serve as the command line says."""
    options = options_from(sys.argv[1:])
    logging.basicConfig(level=logging.INFO, format="%(levelname)s %(name)s: %(message)s", stream=sys.stderr)
    code = Serving(options).run()
    logging.shutdown()
    # A thread that still loads a model would hold up the interpreter's end.
    os._exit(code)


if __name__ == "__main__":
    main()
