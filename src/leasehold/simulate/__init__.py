"""Front door of simulations: services of others that answer as they would, for tests and for trying things out."""

from leasehold.simulate.board import LINGER_S, Board
from leasehold.simulate.board_app import BoardApp, serve_board
from leasehold.simulate.boxes import NAMES as BOX_NAMES
from leasehold.simulate.boxes import THEPORNDB
from leasehold.simulate.control import Control, Mode
from leasehold.simulate.goods import Goods, asin_of, title_of
from leasehold.simulate.people import People
from leasehold.simulate.providers import providers_app, serve_providers, server
from leasehold.simulate.stashboxes import StashBoxes, boxes_server, serve_boxes, write_sources

__all__ = [
    "BOX_NAMES",
    "LINGER_S",
    "THEPORNDB",
    "Board",
    "BoardApp",
    "Control",
    "Goods",
    "Mode",
    "People",
    "StashBoxes",
    "asin_of",
    "boxes_server",
    "providers_app",
    "serve_board",
    "serve_boxes",
    "serve_providers",
    "server",
    "title_of",
    "write_sources",
]
