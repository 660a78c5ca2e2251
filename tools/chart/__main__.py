"""`python -m tools.chart`: write what is copied or made in charts/ and manifests/."""

import json
import re
import subprocess
from collections.abc import Callable, Mapping
from pathlib import Path

from sandbox import Sandbox
from tools.chart.copies import MANIFESTS, ROOT, alerts, crd, operator_policy, rights, user_policy, user_roles
from tools.chart.kustomize_configuration import kustomize_configuration
from tools.chart.values_table import values_table
from tools.dashboard.boards import BOARD_FILES
from tools.dashboard.recording import recording_object, recording_rules

CHART = ROOT / "charts" / "llmservice"
MONITORING = MANIFESTS / "components" / "monitoring"
_TABLE = re.compile(r"(<!-- values: made by `make charts` -->\n).*(<!-- end of values -->)", re.DOTALL)
_INSTALL = "# Made by `make charts` from manifests/overlays/cluster: the operator for every namespace, in one file.\n"


def readme() -> str:
    """The chart's README with the table of its values as they are now."""
    table = values_table(
        (CHART / "values.yaml").read_text("utf-8"), json.loads((CHART / "values.schema.json").read_bytes())
    )
    return _TABLE.sub(lambda found: f"{found[1]}\n{table}\n{found[2]}", (CHART / "README.md").read_text("utf-8"))


def install() -> str:
    """The cluster overlay in one file."""
    kustomize = [str(Sandbox.named().kubectl), "kustomize", str(MANIFESTS / "overlays" / "cluster")]
    return _INSTALL + subprocess.run(kustomize, capture_output=True, text=True, check=True).stdout  # noqa: S603


FILES: Mapping[Path, Callable[[], str]] = {
    CHART / "files" / "llmservices.llmservice.dev.yaml": crd,
    CHART / "files" / "rights.yaml": rights,
    CHART / "files" / "user-roles.yaml": user_roles,
    CHART / "files" / "operator-policy.yaml": operator_policy,
    CHART / "files" / "user-policy.yaml": user_policy,
    CHART / "files" / "alerts.yaml": alerts,
    CHART / "files" / "recording-rules.yaml": recording_rules,
    MONITORING / "recording-rules.yaml": recording_object,
    **{CHART / "files" / "dashboards" / name: board for name, board in BOARD_FILES.items()},
    **{MONITORING / name: board for name, board in BOARD_FILES.items()},
    CHART / "README.md": readme,
    MANIFESTS / "kustomize" / "llmservice.yaml": kustomize_configuration,
    MANIFESTS / "install.yaml": install,
}


def main() -> None:
    """Write every file."""
    for path, text in FILES.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text(), "utf-8")
        print(f"wrote {path.relative_to(ROOT)}")  # noqa: T201  (it is a command)


if __name__ == "__main__":
    main()
