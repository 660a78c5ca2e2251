"""A process that competes for a Lease and, while it leads, writes as fast as an operator might: one Event each 20 ms.

    python -m tests.cluster.lease_process NAMESPACE IDENTITY

The resource versions of its Events tell afterwards in which order the API server took the writes of all processes.
"""

import asyncio
import itertools
import logging
import signal
import sys

from llmservice.cluster.api_server import ApiServer
from llmservice.cluster.leadership.leader_only import LeaderOnly
from llmservice.cluster.leadership.lease import ApiServerLease, Election
from llmservice.cluster.leadership.lease_record import LeaseTiming
from llmservice.cluster.transport.connection import connect
from llmservice.cluster.transport.credentials import load_credentials
from llmservice.errors import OperatorError

LEASE = "llmservice-test"


async def compete(namespace: str, identity: str) -> None:
    """Until SIGTERM."""
    credentials = await load_credentials()
    timing = LeaseTiming()
    async with (
        connect(credentials) as connection,
        connect(credentials, timeout_seconds=timing.call_seconds) as lease_connection,
    ):
        store = ApiServerLease(connection=lease_connection, namespace=namespace, name=LEASE)
        election = Election(store=store, identity=identity, timing=timing)
        cluster = LeaderOnly(ApiServer(connection), election)

        async def write() -> None:
            for number in itertools.count():
                try:
                    await cluster.record(_event(namespace, f"{identity}.{number:06}"))
                except OperatorError as error:
                    print(f"{identity}: {error}", flush=True)  # noqa: T201
                await asyncio.sleep(0.02)

        task = asyncio.create_task(election.run(write))
        asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, task.cancel)
        await asyncio.gather(task, return_exceptions=True)


def _event(namespace: str, name: str) -> dict[str, object]:
    return {
        "apiVersion": "v1",
        "kind": "Event",
        "metadata": {"namespace": namespace, "name": name},
        "involvedObject": {"kind": "Namespace", "namespace": namespace, "name": namespace},
        "type": "Normal",
        "reason": "Written",
        "message": "by a leader",
    }


if __name__ == "__main__":
    logging.basicConfig(level="INFO", stream=sys.stdout, format="%(asctime)s %(message)s")
    asyncio.run(compete(*sys.argv[1:]))
