"""Write the expected manifests anew (`make golden`): read the diff before you commit it.

A difference means that the template of running pods changes, so every model is restarted by an upgrade unless
`RENDER_VERSION` keeps the old rendering alive.
"""

import sys

from tests.golden.cases import CASES


def rewrite() -> int:
    """Write every case that changed; returns how many did."""
    changed = [
        case for case in CASES if not case.manifests.exists() or case.manifests.read_text("utf-8") != case.render()
    ]
    for case in changed:
        case.manifests.write_text(case.render(), "utf-8")
        sys.stdout.write(f"wrote {case.manifests}\n")
    return len(changed)


if __name__ == "__main__":
    sys.stdout.write(f"{rewrite()} of {len(CASES)} cases changed\n")
