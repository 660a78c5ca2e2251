"""All boards, and the files that they are installed from."""

from collections.abc import Callable, Mapping

from tools.dashboard import fleet_board, operator_board, service_board
from tools.dashboard.grafana import as_json
from tools.dashboard.panel import Board

BOARDS: tuple[Board, ...] = (service_board.BOARD, fleet_board.BOARD, operator_board.BOARD)


def _written(board: Board) -> Callable[[], str]:
    return lambda: as_json(board)


BOARD_FILES: Mapping[str, Callable[[], str]] = {f"{board.uid}.json": _written(board) for board in BOARDS}
"""File name → what makes it."""
