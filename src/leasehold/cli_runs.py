"""Runs on the command line: what one would cost, beginning it, watching it, and steering it. All of it over the API."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Annotated, Any, NoReturn

import httpx
import typer
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from leasehold.settings import of_a_client

commands = typer.Typer(help="Plan, begin and watch runs over the API.", no_args_is_help=True)

# An answer to a question that waits for news comes later than others.
_WAIT_S = 20
_TIMEOUT_S = _WAIT_S + 10
_OVER = ("completed", "failed", "cancelled")

Url = Annotated[str | None, typer.Option(help="The server. [LEASEHOLD_URL]")]
Collector = Annotated[str, typer.Option(help="Who collects, such as amazon.")]
Categories = Annotated[list[str], typer.Option("--category", help="What is collected; give it several times.")]
RunId = Annotated[str, typer.Argument(help="The id of the run.")]
JSON = dict[str, Any]


@commands.command()
def estimate(collector: Collector, categories: Categories, url: Url = None) -> None:
    """Say what a run may cost, category by category. Exits with 1 when the cap does not bear it."""
    with _api(url) as api:
        found = _ask(api, "POST", "/v2/runs/estimate", {"collector": collector, "categories": categories})
    _show(found)
    if found["verdict"] == "blocked":
        raise typer.Exit(1)


@commands.command()
def start(
    run: Annotated[str | None, typer.Argument(help="A run that was planned; else say what to collect.")] = None,
    collector: Annotated[str | None, typer.Option(help="Who collects, such as amazon.")] = None,
    categories: Annotated[
        list[str] | None, typer.Option("--category", help="What is collected; give it several times.")
    ] = None,
    name: Annotated[str | None, typer.Option(help="What it is called.")] = None,
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask whether it may cost that.")] = False,
    url: Url = None,
) -> None:
    """Plan a run and begin it, once its cost is agreed to; or begin one that was planned. Prints its id."""
    if (run is None) == (collector is None or not categories):
        _refuse("Give either the id of a run, or --collector and --category.")
    with _api(url) as api:
        planned = _ask(api, "GET", f"/v2/runs/{run}") if run else None
        plan = {"collector": collector, "categories": categories}
        cost = _planned(planned) if planned else _ask(api, "POST", "/v2/runs/estimate", plan)
        _show(cost)
        if not yes and not typer.confirm(f"Begin it, for up to {_money(cost['total_cost_micros'])}?", err=True):
            _refuse("Nothing was begun.")
        made = planned or _ask(api, "POST", "/v2/runs", plan | ({"name": name} if name else {}))
        begun = _ask(api, "POST", f"/v2/runs/{made['id']}/start")
    if begun["position"]:
        typer.echo(f"It waits for a slot, as number {begun['position']}.", err=True)
    typer.echo(begun["id"])


@commands.command()
def watch(run: RunId, url: Url = None) -> None:
    """Follow a run to its end. Exits with 0 when it is completed, with 1 when it failed or was cancelled."""
    with _api(url) as api:
        try:
            status = _follow(api, run)
        except KeyboardInterrupt:
            typer.echo(f"The run goes on. `leasehold run cancel {run}` would end it.", err=True)
            raise typer.Exit(130) from None
    if status != "completed":
        raise typer.Exit(1)


@commands.command()
def pause(run: RunId, url: Url = None) -> None:
    """Begin no more items; what workers have in hand is finished."""
    _act(url, run, "pause")


@commands.command()
def resume(run: RunId, url: Url = None) -> None:
    """Go on with what was paused."""
    _act(url, run, "resume")


@commands.command()
def cancel(run: RunId, url: Url = None) -> None:
    """End a run for ever; what it collected stays."""
    _act(url, run, "cancel")


def _act(url: str | None, run: str, act: str) -> None:
    with _api(url) as api:
        now = _ask(api, "POST", f"/v2/runs/{run}/{act}")
    typer.echo(f"{now['id']} is {now['sub_status'] or now['status']}.")


def _follow(api: httpx.Client, run: str) -> str:
    """Tell of a run until it is over; returns how it ended."""
    console = Console(stderr=True)
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TextColumn("{task.fields[money]}"))
    with Progress(*columns, TimeElapsedColumn(), console=console) as bar:
        now = _ask(api, "GET", f"/v2/runs/{run}")
        task = bar.add_task(now["status"], total=now["total_items"], money="")
        while True:
            bar.update(
                task,
                description=now["sub_status"] or now["status"],
                total=now["total_items"],
                completed=_done(now),
                money=f"{_money(now['actual_cost_micros'])} of {_money(now['budget_cap_micros'])}",
            )
            if not console.is_terminal:  # a bar is for people
                console.print(
                    f"{now['sub_status'] or now['status']} {_done(now)}/{now['total_items']}", highlight=False
                )
            if now["status"] in _OVER:
                break
            wait = {"since": now["last_seq"], "wait_seconds": _WAIT_S}
            for event in _ask(api, "GET", f"/v2/runs/{run}/events", params=wait)["items"]:
                if told := _told(event):
                    console.print(told, markup=False, highlight=False)
            now = _ask(api, "GET", f"/v2/runs/{run}")
    counts = f"{now['processed_items']} collected, {now['failed_items']} failed, {now['skipped_items']} skipped"
    typer.echo(f"{now['id']} is {now['status']}: {counts}, {_money(now['actual_cost_micros'])}.")
    return str(now["status"])


def _done(run: JSON) -> int:
    return int(run["processed_items"] + run["failed_items"] + run["skipped_items"])


def _told(event: JSON) -> str | None:
    """An event for people; what the bar shows is not told again."""
    if event["type"] in ("items", "progress"):
        return None
    why = event.get("detail") or event.get("pause_reason") or event.get("reason")
    return f"{event['at'][11:19]} {event['type'].replace('_', ' ')}" + (f": {why}" if why else "")


def _planned(run: JSON) -> JSON:
    """What a run was thought to cost when it was planned."""
    return {
        "items": run["estimate"],
        "total_cost_micros": run["estimated_cost_micros"],
        "budget_cap_micros": run["budget_cap_micros"],
        "verdict": "as planned",
    }


def _show(cost: JSON) -> None:
    """An estimate, on standard error: standard output is for what other programs read."""
    for line in cost["items"]:
        is_known = line["unit_cost_micros"] is not None
        unit, sum_ = (_money(line["unit_cost_micros"]), _money(line["cost_micros"])) if is_known else ("unknown",) * 2
        typer.echo(f"{line['category']}: {line['items']} items at {unit}: {sum_}", err=True)
    total, cap = _money(cost["total_cost_micros"]), _money(cost["budget_cap_micros"])
    typer.echo(f"Up to {total} of {cap}: {cost['verdict']}.", err=True)


def _money(micros: int) -> str:
    return f"${micros / 1_000_000:.4f}" if micros % 10_000 else f"${micros / 1_000_000:.2f}"


@contextmanager
def _api(url: str | None) -> Iterator[httpx.Client]:
    address, token = of_a_client()
    if not (url or address) or not token:
        _refuse("Set LEASEHOLD_URL (or --url) and LEASEHOLD_TOKEN: runs are steered through the API.")
    headers = {"Authorization": f"Bearer {token}"}
    with httpx.Client(base_url=url or address, headers=headers, timeout=_TIMEOUT_S) as api:
        try:
            yield api
        except httpx.TransportError as error:
            _refuse(f"{url or address} cannot be reached ({type(error).__name__}).")


def _ask(api: httpx.Client, method: str, path: str, body: JSON | None = None, params: JSON | None = None) -> JSON:
    answer = api.request(method, path, json=body, params=params)
    try:
        found: JSON = answer.json()
    except ValueError:
        _refuse(f"{api.base_url} answered {answer.status_code} and no JSON: is that leasehold?")
    if answer.is_error:
        faults = "; ".join(one["detail"] for one in found.get("errors", []))
        _refuse(f"{found.get('detail', answer.status_code)}" + (f" {faults}" if faults else ""))
    return found


def _refuse(message: str) -> NoReturn:
    typer.echo(f"leasehold: {message}", err=True)
    raise typer.Exit(1)
