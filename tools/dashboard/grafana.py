"""A board as Grafana's JSON model.

Source: https://grafana.com/docs/grafana/latest/dashboards/build-dashboards/view-dashboard-json-model/
"""

import json
from collections.abc import Iterator, Mapping
from typing import Any

from tools.dashboard.panel import Board, Panel, Query

Json = dict[str, Any]

_COLUMNS = 24
_HEIGHT = 8
_SOURCE: Json = {"type": "prometheus", "uid": "${datasource}"}
_TAG = "llmservice"


def as_json(board: Board) -> str:
    """The board as a JSON file; the same bytes every time."""
    model: Json = {
        "uid": board.uid,
        "title": board.title,
        "description": board.meaning,
        "tags": [_TAG, "kubernetes"],
        "schemaVersion": 39,  # Grafana 10.4
        "editable": True,
        "refresh": "30s",
        "time": {"from": "now-3h", "to": "now"},
        "links": [_TO_THE_OTHERS],
        "templating": {"list": [_VARIABLES[name] for name in ("datasource", *board.variables)]},
        "panels": list(_panels(board.rows)),
    }
    return json.dumps(model, indent=1) + "\n"


_TO_THE_OTHERS: Json = {
    "type": "dashboards",
    "title": "LLMService",
    "tags": [_TAG],
    "asDropdown": True,
    "includeVars": True,
    "keepTime": True,
}


def _asked(name: str, label: str, within: str) -> Json:
    query = f"label_values(llmservice_info{within}, {label})"
    return {
        "name": name,
        "type": "query",
        "datasource": _SOURCE,
        "definition": query,
        "query": {"query": query, "refId": name},
        "refresh": 2,  # when the time range changes
        "multi": True,
        "includeAll": True,
        "allValue": ".*",
        "current": {"text": ["All"], "value": ["$__all"]},
        "sort": 1,
    }


_VARIABLES: Mapping[str, Json] = {
    "datasource": {"name": "datasource", "label": "Prometheus", "type": "datasource", "query": "prometheus"},
    "namespace": _asked("namespace", "namespace", ""),
    "service": _asked("service", "name", '{namespace=~"$namespace"}'),
}


def _panels(rows: Mapping[str, tuple[Panel, ...]]) -> Iterator[Json]:
    number, top = 0, 0
    for title, panels in rows.items():
        number += 1
        place = {"x": 0, "y": top, "w": _COLUMNS, "h": 1}
        yield {"id": number, "type": "row", "title": title, "collapsed": False, "gridPos": place, "panels": []}
        top, left = top + 1, 0
        for panel in panels:
            if left + panel.width > _COLUMNS:
                top, left = top + _HEIGHT, 0
            number += 1
            yield _panel(panel, number, {"x": left, "y": top, "w": panel.width, "h": _HEIGHT})
            left += panel.width
        top += _HEIGHT


def _panel(panel: Panel, number: int, place: Json) -> Json:
    return {
        "id": number,
        "type": panel.kind,
        "title": panel.title,
        "description": panel.description,
        "gridPos": place,
        "datasource": _SOURCE,
        "fieldConfig": {"defaults": {"unit": panel.unit, "min": 0, **_drawing(panel)}, "overrides": []},
        "options": _OPTIONS[panel.kind],
        "targets": [_target(query, letter, panel) for query, letter in zip(panel.queries, "ABCDEF", strict=False)],
        **(_transformed(panel) if panel.kind == "table" else {}),
    }


def _target(query: Query, letter: str, panel: Panel) -> Json:
    target: Json = {"refId": letter, "datasource": _SOURCE, "expr": query.expr}
    if panel.kind == "table":
        return {**target, "format": "table", "instant": True}
    return {**target, "legendFormat": query.legend or panel.title}


def _transformed(panel: Panel) -> Json:
    hidden = {"Time": True} if panel.value else {"Time": True, "Value": True}
    options: Json = {"excludeByName": hidden, "renameByName": {"Value": panel.value} if panel.value else {}}
    return {"transformations": [{"id": "organize", "options": options}]}


def _drawing(panel: Panel) -> Json:
    if panel.kind != "timeseries":
        return {}
    drawn: Json = {"lineWidth": 1, "fillOpacity": 10, "showPoints": "never"}
    return {"custom": {**drawn, "stacking": {"mode": "normal"}} if panel.stacked else drawn}


_OPTIONS: Mapping[str, Json] = {
    "stat": {"reduceOptions": {"calcs": ["lastNotNull"]}, "graphMode": "area", "colorMode": "value"},
    "table": {"showHeader": True, "footer": {"show": False}},
    "state-timeline": {"showValue": "never", "mergeValues": True, "legend": {"displayMode": "list"}},
    "timeseries": {"legend": {"displayMode": "list", "placement": "bottom"}, "tooltip": {"mode": "multi"}},
}
