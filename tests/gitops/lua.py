"""Argo CD's side: runs a health script on an object, as Argo CD does (Lua 5.1, the object as `obj`)."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from lupa.lua51 import LuaRuntime  # type: ignore[import-untyped]  # it has no types

ROOT = Path(__file__).parents[2]
CUSTOMIZATION = ROOT / "gitops/argocd/resource_customizations/llmservice.dev/LLMService"
HEALTH = (CUSTOMIZATION / "health.lua").read_text()


def health_of(body: Mapping[str, Any], script: str = HEALTH) -> dict[str, str]:
    """What the script returns: `status` and `message`. Nothing but the language itself is at its disposal."""
    lua = LuaRuntime(register_eval=False, unpack_returned_tuples=False)
    for library in ("io", "os", "package", "require", "debug", "python"):
        lua.globals()[library] = None
    lua.globals()["obj"] = lua.table_from(body, recursive=True)
    return dict(lua.execute(script))
