# The operator: `llmservice run` as a numeric user, on a read-only root.
# Python's minor version stands here and in the path of site-packages below; nowhere else.
#
# The base is named by digest (Python 3.11.16 of 2026-08-25, an index for every platform, from docker-library/repo-info).
# For a newer one:  docker buildx imagetools inspect docker.io/library/python:3.11-slim-bookworm
#
# There is no HEALTHCHECK: Kubernetes asks by the probes in the Deployment and ignores one here. Its packages are listed
# in an SBOM that is built beside the image (make sbom).
FROM docker.io/library/python:3.11-slim-bookworm@sha256:0bee7276f83efd4a1ee05bbbf4281d95ed28e079220a9457f25a93e3f1e3c31b AS build

WORKDIR /build
COPY requirements/runtime.lock ./
# Only wheels, each with its hash: nothing is built here, so nothing needs a compiler.
RUN python3 -m venv /opt/llmservice \
 && /opt/llmservice/bin/pip install --no-cache-dir --no-compile --disable-pip-version-check \
      --only-binary=:all: --require-hashes --requirement runtime.lock \
 && /opt/llmservice/bin/pip uninstall --yes --quiet pip setuptools
COPY operator/llmservice /opt/llmservice/lib/python3.11/site-packages/llmservice
# A read-only root cannot keep bytecode: without it each start would compile everything anew. All of it, and by one
# process: what an import of pip left is dated, and what several share among themselves has other bytes each time.
RUN PYTHONHASHSEED=0 /opt/llmservice/bin/python3 -m compileall -qf --invalidation-mode unchecked-hash /opt/llmservice/lib

FROM docker.io/library/python:3.11-slim-bookworm@sha256:0bee7276f83efd4a1ee05bbbf4281d95ed28e079220a9457f25a93e3f1e3c31b

LABEL org.opencontainers.image.title="llmservice-operator" \
      org.opencontainers.image.description="A Kubernetes operator that serves large language models" \
      org.opencontainers.image.licenses="Apache-2.0" \
      org.opencontainers.image.source="https://github.com/llmservice/operator" \
      org.opencontainers.image.version="0.1.0"
COPY --from=build /opt/llmservice /opt/llmservice
ENV PYTHONDONTWRITEBYTECODE=1 \
    PYTHONUNBUFFERED=1
# A number, so that the kubelet can see that it is not root.
USER 65532:65532
EXPOSE 8081 8443
ENTRYPOINT ["/opt/llmservice/bin/python3", "-m", "llmservice"]
CMD ["run"]
