"""Each contract is tried on every party to it."""

from collections.abc import AsyncIterator

import pytest

from tests.contracts.clusters import Subject, behind_an_api_server, in_memory


@pytest.fixture(params=["in_memory", pytest.param("api_server", marks=pytest.mark.cluster)])
async def subject(request: pytest.FixtureRequest) -> AsyncIterator[Subject]:
    """A cluster: the one in a dict always, a real one where there is one."""
    if request.param == "in_memory":
        yield in_memory()
    else:
        async with behind_an_api_server(request.getfixturevalue("sandbox_kubeconfig")) as subject:
            yield subject
