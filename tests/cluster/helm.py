"""Helm against a cluster, as a user types it."""

import json
import subprocess
from dataclasses import dataclass
from pathlib import Path

from sandbox.build_helm import helm_build
from sandbox.cache import cache_folder
from sandbox.progress import Progress
from tests.cluster.kube import Body, Rejected

CHART = Path(__file__).parents[2] / "charts" / "llmservice"


@dataclass(frozen=True)
class Helm:
    """Helm for one cluster. `user` is impersonated; none means the administrator."""

    kubeconfig: Path
    user: str = ""

    def install(self, release: str, namespace: str, values: Body) -> str:
        """Install the chart and wait until its pods are ready; raises Rejected with what Helm said."""
        return self._run("install", release, str(CHART), "-n", namespace, "--wait", "--timeout=90s", values=values)

    def upgrade(self, release: str, namespace: str, values: Body) -> str:
        """Upgrade a release and wait until its new pods are ready."""
        return self._run("upgrade", release, str(CHART), "-n", namespace, "--wait", "--timeout=90s", values=values)

    def uninstall(self, release: str, namespace: str) -> str:
        """Remove a release and wait until it is gone."""
        return self._run("uninstall", release, "-n", namespace, "--wait", "--timeout=90s")

    def test(self, release: str, namespace: str) -> str:
        """Run the release's own check; what its pod logged is part of the answer."""
        return self._run("test", release, "-n", namespace, "--logs", "--timeout=90s")

    def _run(self, *arguments: str, values: Body | None = None) -> str:
        helm = helm_build().ensure(cache_folder(), Progress()) / "helm"
        command = [str(helm), "--kubeconfig", str(self.kubeconfig), *arguments]
        if self.user:
            command += ["--kube-as-user", self.user, "--kube-as-group", "system:authenticated"]
        if values is not None:
            command += ["--values", "-"]
        stdin = json.dumps(values or {})
        done = subprocess.run(command, input=stdin, capture_output=True, text=True, timeout=120, check=False)  # noqa: S603
        if done.returncode != 0:
            raise Rejected(done.returncode, done.stderr)
        return done.stdout
