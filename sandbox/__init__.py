"""A real Kubernetes on one Linux machine, without Docker, for the demo and the cluster tests.

Belongs here: building and running etcd, the Kubernetes programs and containerd, the images and the model they serve,
and cleaning all of it up. Does not: anything of the operator; the sandbox knows nothing of LLMServices.
"""

from sandbox.errors import SandboxError
from sandbox.sandbox import Sandbox

__all__ = ["Sandbox", "SandboxError"]
