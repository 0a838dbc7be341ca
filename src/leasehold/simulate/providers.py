"""The providers of the shipped collectors, simulated: one app that serves Oxylabs, eBay and what controls them."""

import socket
from collections.abc import Callable

import uvicorn
from starlette.applications import Starlette

from leasehold.server import Server, listen
from leasehold.simulate.control import PROVIDERS, Control, Mode
from leasehold.simulate.ebay import EbayApi
from leasehold.simulate.goods import Goods
from leasehold.simulate.oxylabs import OxylabsApi

HOST = "127.0.0.1"
# As long as eBay's are good.
TOKEN_SECONDS = 7200


def providers_app(goods: Goods, control: Control, token_seconds: int = TOKEN_SECONDS) -> Starlette:
    oxylabs, ebay = OxylabsApi(goods, control), EbayApi(control, token_seconds)
    return Starlette(routes=[*oxylabs.routes(), *ebay.routes(), *control.routes()])


def server(app: Starlette, on_ready: Callable[[], None]) -> Server:
    config = uvicorn.Config(
        app, log_config=None, access_log=False, lifespan="off", timeout_graceful_shutdown=1, server_header=False
    )
    return Server(config, on_ready, lambda: None)


def serve_providers(port: int, goods: Goods, control: Control, say: Callable[[str], None]) -> None:
    """Serve until SIGINT or SIGTERM. Only this machine can reach it: it takes any password."""
    listener = listen(HOST, port)
    server(providers_app(goods, control), lambda: say(_welcome(listener, goods))).run(sockets=[listener])


def _welcome(listener: socket.socket, goods: Goods) -> str:
    address = f"http://{HOST}:{listener.getsockname()[1]}"
    return f"""Simulated providers at {address}, {goods.items:,} products in each category.

  LEASEHOLD_OXYLABS_URL={address}/oxylabs LEASEHOLD_OXYLABS_USERNAME=any LEASEHOLD_OXYLABS_PASSWORD=any
  LEASEHOLD_EBAY_URL={address}/ebay LEASEHOLD_EBAY_CLIENT_ID=any LEASEHOLD_EBAY_CLIENT_SECRET=any

  PUT    {address}/control           {{"provider": "{"|".join(PROVIDERS)}", "mode": "{"|".join(Mode)}"}}
  GET    {address}/control/requests  every paid request, by item (DELETE clears them)
  DELETE {address}/control/tokens    makes eBay's tokens invalid

Ctrl-C stops it."""
