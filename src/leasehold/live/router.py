"""The live socket, and tickets for it over HTTP."""

from typing import Annotated

from fastapi import Depends, Request, WebSocket
from pydantic import Field

from leasehold.auth import Permission
from leasehold.door import CallerDep, Gate, allows, router
from leasehold.live.hub import Live
from leasehold.live.tickets import LIFETIME_S, Tickets
from leasehold.strict import Answer

routes = router("runs")

PATH = "/v2/live"


async def _tickets(request: Request) -> Tickets:
    tickets: Tickets = request.app.state.tickets
    return tickets


class TicketOut(Answer):
    ticket: str = Field(description="For the first message of one socket; never for a URL.")
    expires_in_seconds: int


@routes.post(f"{PATH}/tickets", status_code=201, **allows(Permission.RUNS_VIEW))
async def create_live_ticket(caller: CallerDep, tickets: Annotated[Tickets, Depends(_tickets)]) -> TicketOut:
    """A ticket for one socket at `/v2/live`, good for half a minute."""
    return TicketOut(ticket=await tickets.issue(caller), expires_in_seconds=LIFETIME_S)


async def watch_live(websocket: WebSocket, permission: Permission) -> None:
    """News of one run, or of all."""
    live: Live = websocket.app.state.live
    await live.serve(websocket, permission)


routes.routes.append(Gate(PATH, Permission.RUNS_VIEW, watch_live))
