"""Asks the operator for an explanation: the leader through the API server, or an address directly."""

import ipaddress
import ssl
from dataclasses import dataclass
from typing import Any
from urllib.parse import SplitResult, urlsplit

import aiohttp

from llmservice.cli.connecting import connected
from llmservice.cli.where import Where
from llmservice.cluster.leadership.leader_proxy import ask_leader
from llmservice.cluster.tokens import own_token, token_in, token_of_account
from llmservice.cluster.transport.connection import Connection
from llmservice.errors import InvalidInput, NotFound, Refused, Unavailable, UsageError
from llmservice.objects.names import LEASE

_SECONDS = 15.0
_OK, _NOT_FOUND = 200, 404
_WAY_OUT = "give the address of an operator's endpoint"
_ALWAYS = {"namespace", "name", "periodSeconds", "conditions"}
"""What every explanation has, also that of a service that is not scaled now."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Asker:
    """Who asks, and where: the options of the command."""

    operator: str
    operator_namespace: str
    operator_ca: str
    token_file: str
    as_service_account: str
    where: Where

    async def ask_the_leader(self, connection: Connection, path: str) -> dict[str, Any]:
        """The leader's answer, through the API server; raises what `ask_leader` and `Connection.call` raise."""
        return await ask_leader(connection, self.operator_namespace, LEASE, path, await self._token(connection))

    async def ask_directly(self, path: str) -> dict[str, Any]:
        """The answer of --operator. Raises NotFound or Refused with its words, else Unavailable."""
        url, limit = f"{self.operator.rstrip('/')}/{path}", aiohttp.ClientTimeout(total=_SECONDS)
        tls, headers = self._tls(), await self._authorization()
        try:
            async with (
                aiohttp.ClientSession(timeout=limit) as session,
                session.get(url, headers=headers, ssl=tls, allow_redirects=False) as response,
            ):
                status, answer = response.status, await response.json()
        except (aiohttp.ClientError, TimeoutError, ValueError) as error:
            why = str(error) or "no answer in time"
            raise Unavailable("Unreachable", f"{url}: {why}; {_WAY_OUT}") from error
        return _explanation(url, status, answer)

    async def _token(self, connection: Connection) -> str:
        if self.token_file:
            return token_in(self.token_file)
        if self.as_service_account:
            return await token_of_account(connection, self.as_service_account)
        return await own_token(connection)

    async def _authorization(self) -> dict[str, str]:
        """Nothing by plain HTTP, where everybody could read a token; an operator that answers so asks for none."""
        if self._address().scheme != "https":
            if self.token_file or self.as_service_account:
                raise UsageError(
                    "NoToken", "must begin with https://: a token is shown by HTTPS only", field="--operator"
                )
            return {}
        if self.token_file:
            return {"Authorization": f"Bearer {token_in(self.token_file)}"}
        async with connected(self.where) as (connection, _):
            return {"Authorization": f"Bearer {await self._token(connection)}"}

    def _tls(self) -> ssl.SSLContext | bool:
        """The certificate is checked, but on this machine itself: where a port is forwarded, no name can fit."""
        if self.operator_ca:
            try:
                return ssl.create_default_context(cafile=self.operator_ca)
            except OSError as error:
                raise InvalidInput("InvalidCertificate", f"cannot be read: {error}", field="--operator-ca") from error
        return not _is_this_machine(self._address().hostname or "")

    def _address(self) -> SplitResult:
        try:
            return urlsplit(self.operator)
        except ValueError as error:
            raise UsageError("InvalidAddress", f"{self.operator}: {error}; {_WAY_OUT}", field="--operator") from error


def _is_this_machine(host: str) -> bool:
    try:
        return host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def _explanation(url: str, status: int, answer: object) -> dict[str, Any]:
    """The answer, if it is one. Any server can answer at an address that a person typed."""
    if status != _OK and isinstance(answer, dict):
        refusal = NotFound if status == _NOT_FOUND else Refused
        raise refusal("Refused", str(answer.get("message") or f"HTTP {status}"))
    if not isinstance(answer, dict) or not answer.keys() >= _ALWAYS:
        raise Unavailable("NotAnOperator", f"{url}: HTTP {status}, but not what an operator answers; {_WAY_OUT}")
    return answer
