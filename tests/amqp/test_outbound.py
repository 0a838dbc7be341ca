"""Tasks that go out through RabbitMQ: what is published once, what goes back, what waits, and who is to blame."""

import json
from pathlib import Path
from uuid import UUID

from leasehold import duties
from leasehold.duties import Duty
from tests.amqp.conftest import amqp_platform
from tests.amqp.test_way import until
from tests.contracts.crawling import moved
from tests.parts.broker import Broker, last, result
from tests.parts.house import House, house
from tests.parts.postgres import TestDatabase
from tests.parts.rabbit import Rabbit
from tests.parts.wire import Wire

# Renewed when less than 0.6 of it are left.
LEASE_S = 300
UNPUBLISHED = "SELECT FROM task WHERE published_at IS NULL"


def default(home: House) -> UUID:
    ((found,),) = home.database.rows("SELECT id FROM organisation WHERE slug = 'default'")
    return UUID(str(found))


def task(database: TestDatabase, *columns: str) -> tuple[object, ...]:
    ((row),) = database.rows(f"SELECT {', '.join(columns)} FROM task")
    found: tuple[object, ...] = row
    return found


def patient(home: House, folder: Path, queue: int = 300) -> None:
    """Leases that do not run out before a busy machine has renewed them."""
    (folder / "alpha.yaml").write_text(amqp_platform("alpha", lease=LEASE_S, queue=queue))
    home.app.state.jobs.catalogue.reload()


async def kept(database: TestDatabase, queue_s: int) -> None:
    """The task comes near the end of its lease and of its time in the queue, and the dispatcher renews both."""
    database.run(f"UPDATE lease SET expires_at = clock_timestamp() + {0.58 * LEASE_S} * interval '1 second'")
    database.run(f"UPDATE task SET queue_until = clock_timestamp() + {0.48 * queue_s} * interval '1 second'")
    renewed = f"SELECT min(expires_at) > clock_timestamp() + {0.7 * LEASE_S} * interval '1 second' FROM lease"
    lying = f"SELECT min(queue_until) > clock_timestamp() + {queue_s} * interval '0.6 seconds' FROM task"

    async def is_renewed() -> bool:
        return database.rows(renewed) == [(True,)] == database.rows(lying)

    await until(is_renewed)


async def reaped(home: House) -> None:
    """The reaper comes by, as it does every few seconds."""
    (reaper,) = [task for task in home.app.state.background.tasks if task.name == "reaper"]
    await reaper.step()


async def test_over_http_the_platform_is_refused(broker: Broker) -> None:
    answer = await broker.client.post("/v2/tasks/acquire", json={"owner": "w", "platforms": ["plain", "alpha"]})

    assert (answer.status_code, answer.json()["type"]) == (409, "/problems/wrong-transport")
    assert (answer.json()["platform"], answer.json()["transport"]) == ("alpha", "amqp")


async def test_without_a_broker_jobs_wait_and_say_so(database: TestDatabase, folder: Path) -> None:
    async with house(database, duties=duties.ALL, platforms_dir=folder) as home:
        broker = Broker(await home.caller())
        await broker.submit("alpha", job_id="j")

        said = (await broker.client.get("/v2/jobs/j/explain")).json()["parts"][0]

    assert (said["reason"], said["status"]) == ("no_broker", "pending")
    assert "LEASEHOLD_AMQP_URL" in said["detail"]


async def test_what_lies_in_the_queue_says_so_and_loses_nobody(
    broker: Broker, home: House, line: Wire, folder: Path
) -> None:
    patient(home, folder)
    await broker.submit("alpha", job_id="j")
    await until(lambda: _is_published(home.database))

    await kept(home.database, 300)
    said = (await broker.client.get("/v2/jobs/j/explain")).json()["parts"][0]
    lease, message = await line.take()

    assert said["reason"] == "published"
    assert (lease["task"]["fence"], task(home.database, "losses", "fence")) == (1, (0, 1))
    await message.ack()


async def test_a_worker_that_took_it_and_says_nothing_is_lost_after_a_while(
    broker: Broker, home: House, line: Wire, folder: Path
) -> None:
    patient(home, folder)
    await broker.submit("alpha", job_id="j")
    first, message = await line.take()
    await until(lambda: _is_empty(line))
    home.database.run("UPDATE task SET queue_until = clock_timestamp()")
    moved(home.database)

    again, other = await line.take()

    assert (first["task"]["fence"], again["task"]["fence"]) == (1, 2)
    assert task(home.database, "losses", "attempt") == (1, 1)
    assert other.headers["retry"] is True
    await message.ack()
    await other.ack()


async def test_what_nobody_has_taken_for_long_is_still_nobodys_fault(
    broker: Broker, home: House, line: Wire, folder: Path
) -> None:
    patient(home, folder, queue=5)
    await broker.submit("alpha", job_id="j")
    await until(lambda: _is_published(home.database))

    for _ in range(2):
        await kept(home.database, 5)

    assert task(home.database, "losses", "fence") == (0, 1)


async def test_what_was_never_published_goes_back_and_costs_nothing(
    database: TestDatabase, folder: Path, amqp_url: str
) -> None:
    """A dispatcher that dies between its lease and the broker's word."""
    async with house(database, duties=[Duty.REAPER], platforms_dir=folder, amqp_url=amqp_url) as home:
        broker = Broker(await home.caller())
        await broker.submit("alpha", job_id="j")
        (parcel,) = await home.app.state.jobs.posting.take(default(home), ["alpha"], 10, 0)
        moved(database)
        await reaped(home)
        await until(lambda: _is(database, "pending"))
        history = [one["event"] for one in (await broker.job("j"))["history"]]

    assert parcel.task.fence == 1
    assert task(database, "losses", "attempt") == (0, 1)
    assert history == ["accepted", "dispatched", "unpublished"]


async def test_what_was_published_while_its_dispatcher_was_gone_costs_nothing_either(
    database: TestDatabase, folder: Path, amqp_url: str
) -> None:
    async with house(database, duties=[Duty.REAPER], platforms_dir=folder, amqp_url=amqp_url) as home:
        broker = Broker(await home.caller())
        await broker.submit("alpha", job_id="j")
        posting = home.app.state.jobs.posting
        await posting.published(default(home), await posting.take(default(home), ["alpha"], 10, 0))
        moved(database)
        await reaped(home)
        await until(lambda: _is(database, "pending"))

    assert task(database, "losses", "attempt") == (0, 1)


async def test_what_was_published_before_does_not_tell_of_a_later_grant(
    database: TestDatabase, folder: Path, amqp_url: str
) -> None:
    """It lay in the queue long ago; its next dispatcher dies between its lease and the broker's word."""
    async with house(database, duties=[Duty.REAPER], platforms_dir=folder, amqp_url=amqp_url) as home:
        broker = Broker(await home.caller())
        await broker.submit("alpha", job_id="j")
        posting = home.app.state.jobs.posting
        first = await posting.take(default(home), ["alpha"], 10, 0)
        await posting.published(default(home), first)
        await posting.give_back(default(home), first)
        database.run("UPDATE task SET not_before = clock_timestamp(), queue_until = clock_timestamp()")

        (second,) = await posting.take(default(home), ["alpha"], 10, 0)
        moved(database)
        await reaped(home)
        await until(lambda: _is(database, "pending"))
        said = (await broker.job("j"))["history"][-1]["event"]

    assert (second.task.fence, said) == (2, "unpublished")
    assert task(database, "losses", "attempt") == (0, 1)


async def test_a_worker_that_spoke_and_fell_silent_is_lost_even_if_nothing_was_marked(
    database: TestDatabase, folder: Path, amqp_url: str
) -> None:
    """The broker had it, and the dispatcher died before it could write that down."""
    async with house(database, duties=[Duty.REAPER], platforms_dir=folder, amqp_url=amqp_url) as home:
        broker = Broker(await home.caller())
        await broker.submit("alpha", job_id="j")
        (parcel,) = await home.app.state.jobs.posting.take(default(home), ["alpha"], 10, 0)
        lease = {"task": parcel.task.model_dump(mode="json")}
        assert await broker.verdicts(result(lease, status="progress")) == ["accepted"]
        moved(database)
        await reaped(home)
        await until(lambda: _is(database, "pending"))

    assert task(database, "losses", "attempt") == (1, 1)


async def test_a_queue_that_somebody_deleted_comes_back_and_nothing_is_lost(
    broker: Broker, home: House, line: Wire
) -> None:
    await line.channel.queue_delete("crawler.alpha.queue")
    await broker.submit("alpha", job_id="j")

    await until(lambda: _is_published(home.database), 40)
    lease, message = await line.take()
    await line.bring(last(lease))
    await message.ack()

    await until(lambda: _is(home.database, "completed"))
    assert task(home.database, "losses", "attempt") == (0, 1)


async def test_a_queue_that_is_full_is_no_attempt_and_no_loss(
    broker: Broker, home: House, line: Wire, rabbit: Rabbit, amqp_url: str
) -> None:
    """The broker says no: the task goes back, rests, and is offered again."""
    vhost = amqp_url.rpartition("/")[2]
    rabbit.control("set_policy", "-p", vhost, "full", r"^crawler\.beta\.queue$", '{"max-length": 1}')
    for n in range(9):  # it takes a few more than it should before it says so
        job = f"j{n}"
        await broker.submit("beta", job_id=job)
        await until(lambda: _is_told(broker, home.database, job))  # noqa: B023
        if home.database.rows(UNPUBLISHED):
            break

    assert await _has_event(broker, job, "unpublished", "never delivered")
    rabbit.control("clear_policy", "-p", vhost, "full")
    taken = {}
    while job not in taken:
        lease, message = await line.take("beta")
        taken[lease["task"]["job_id"]] = lease["task"]
        await message.ack()

    assert taken[job]["fence"] > 1
    assert (taken[job]["attempt"], taken[job]["retry"]) == (1, False)
    assert home.database.rows("SELECT max(losses) FROM task") == [(0,)]


async def test_what_ends_every_worker_is_set_aside_and_booked_as_a_lost_one(
    broker: Broker, home: House, line: Wire
) -> None:
    await broker.submit("alpha", job_id="j")

    for _ in range(4):  # the first delivery, and three more
        _, message = await line.take()
        await message.reject(requeue=True)
    again, message = await line.take()
    await line.bring(last(again))
    await message.ack()

    await until(lambda: _is(home.database, "completed"))
    (letter,) = await broker.dead()
    assert (letter["reason"], letter["job_id"], letter["platform"]) == ("poison", "j", "alpha")
    assert (again["task"]["attempt"], again["task"]["fence"]) == (1, 2)
    assert task(home.database, "losses") == (1,)


async def test_what_lies_in_the_queue_of_others_hides_no_silent_worker(
    database: TestDatabase, folder: Path, amqp_url: str
) -> None:
    """One worker took the oldest and says nothing; the queue is full of what another organisation wants."""
    async with house(database, duties=(), platforms_dir=folder, amqp_url=amqp_url) as home:
        posting = home.app.state.jobs.posting
        whose = []
        for slug, jobs in (("default", 1), ("theirs", 3)):
            broker = Broker(await home.caller(organisation=slug))
            whose.append(UUID(str(database.rows("SELECT id FROM organisation WHERE slug = %s", slug)[0][0])))
            for _ in range(jobs):
                await broker.submit("alpha")
            await posting.published(whose[-1], await posting.take(whose[-1], ["alpha"], 10, 0))
        database.run("UPDATE task SET queue_until = clock_timestamp()")

        for organisation in whose:
            await posting.keep(organisation, {"alpha": 3})

        lying = "SELECT organisation, count(*) FROM task WHERE queue_until > clock_timestamp() GROUP BY organisation"
        assert database.rows(lying) == [(whose[1], 3)]


async def test_a_stranger_in_the_dead_letter_queue_is_kept(broker: Broker, line: Wire) -> None:
    await line.send("", "crawler.alpha.dlq", b"who am I?")

    await until(lambda: _has_letters(broker))
    (letter,) = await broker.dead()
    assert (letter["reason"], letter["payload"]) == ("poison", {"text": "who am I?"})


async def test_a_task_for_another_organisation_says_whose_it_is(home: House, line: Wire) -> None:
    theirs = Broker(await home.caller(organisation="theirs"))
    await theirs.submit("alpha", job_id="j")

    message = await line.get("crawler.alpha.queue")

    assert message.headers["organisation"] == "theirs"
    assert json.loads(message.body)["job_id"] == "j"
    assert str(message.headers["lease"]).startswith("lease_")
    await message.ack()


async def _is_empty(line: Wire) -> bool:
    """Whether the broker has counted that nothing lies in the queue."""
    found = await line.channel.declare_queue("crawler.alpha.queue", passive=True)
    return found.declaration_result.message_count == 0


async def _is_published(database: TestDatabase) -> bool:
    return bool(task(database, "published_at IS NOT NULL AND lease IS NOT NULL")[0])


async def _is(database: TestDatabase, status: str) -> bool:
    return task(database, "status") == (status,)


async def _has_event(broker: Broker, job: str, event: str, reason: str) -> bool:
    history = (await broker.job(job))["history"]
    return (event, reason) in [(one["event"], one["detail"].get("reason")) for one in history]


async def _is_told(broker: Broker, database: TestDatabase, job: str) -> bool:
    """Whether the broker has said yes to all, or no to this one."""
    return not database.rows(UNPUBLISHED) or await _has_event(broker, job, "unpublished", "never delivered")


async def _has_letters(broker: Broker) -> bool:
    return bool(await broker.dead())
