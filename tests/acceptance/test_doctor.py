"""What `leasehold doctor` says of what stands beside PostgreSQL: Redis, RabbitMQ, MongoDB, an address for alerts."""

import socket
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from leasehold.doctor import Finding, examine
from leasehold.settings import Settings
from tests.jobs.conftest import platform
from tests.parts.mongo import MongoDatabase
from tests.parts.ports import free_port
from tests.parts.postgres import TestDatabase
from tests.parts.redis import RedisServer

SECRET = "Hunter2Hunter2"


class Office:
    """A doctor with a healthy database, and a folder of platforms."""

    def __init__(self, database: TestDatabase, folder: Path) -> None:
        self._database = database
        self.folder = folder

    def needs(self, more: str) -> None:
        (self.folder / "alpha.yaml").write_text(platform("alpha").replace("transport: http\n", "") + more)

    def found(self, what: str, **settings: Any) -> list[Finding]:
        chosen = Settings(
            database_url=self._database.url, data_dir=self.folder / "data", platforms_dir=self.folder, **settings
        )
        findings = list(examine(chosen))
        assert all(SECRET not in finding.detail for finding in findings)
        return [finding for finding in findings if finding.what == what]


@pytest.fixture
def office(database: TestDatabase, tmp_path: Path) -> Office:
    return Office(database, tmp_path)


@pytest.fixture
def redis(redis_server: RedisServer) -> Iterator[RedisServer]:
    """A Redis whose settings are as before when the test is over."""
    kept = ("maxmemory-policy", "appendonly")
    with redis_server.client() as client:
        before = {name: client.config_get(name)[name] for name in kept}
        yield redis_server
        client.replicaof("no", "one")
        for name, value in before.items():
            client.config_set(name, value)


def test_nothing_is_said_of_what_nobody_uses(office: Office) -> None:
    office.needs("")

    for what in ("RabbitMQ", "Redis", "mongo", "alerts"):
        assert office.found(what) == []


def test_where_artefacts_go_is_tried(office: Office) -> None:
    office.needs("")

    (well,) = office.found("artifacts")
    (ill,) = office.found("artifacts", artifact_url="file:///dev/null/artifacts")
    (odd,) = office.found("artifacts", artifact_url=f"nosuchstore://key:{SECRET}@host/bucket")

    assert (well.is_well, well.detail) == (True, f"can be written, in {office.folder / 'data' / 'artifacts'}")
    assert (ill.is_well, odd.is_well) == (False, False)
    assert "/dev/null/artifacts cannot be written (Not a directory). Check LEASEHOLD_ARTIFACT_URL" in ill.detail
    assert "LEASEHOLD_ARTIFACT_URL cannot be used" in odd.detail


def test_a_redis_that_is_well_is_told_with_its_version(office: Office, redis: RedisServer) -> None:
    (finding,) = office.found("Redis", redis_url=redis.url)

    assert finding.is_well
    assert finding.detail.endswith("(6.2 or newer is needed), evicts nothing")


@pytest.mark.parametrize("policy", ["allkeys-lru", "volatile-ttl"])
def test_a_redis_that_throws_things_away_is_told_what_to_set(office: Office, redis: RedisServer, policy: str) -> None:
    with redis.client() as client:
        client.config_set("maxmemory-policy", policy)

    (finding,) = office.found("Redis", redis_url=redis.url)

    assert not finding.is_well
    assert f"(maxmemory-policy {policy}). Set `maxmemory-policy noeviction`" in finding.detail


def test_a_redis_that_keeps_nothing_on_disk_is_well_and_gets_advice(office: Office, redis: RedisServer) -> None:
    with redis.client() as client:
        client.config_set("appendonly", "no")

    (finding,) = office.found("Redis", redis_url=redis.url)

    assert finding.is_well
    assert "appendonly is off" in finding.detail
    assert "`appendonly yes` saves that minute" in finding.detail


def test_a_redis_that_is_a_replica_is_told_to_name_its_master(office: Office, redis: RedisServer) -> None:
    with redis.client() as client:
        client.replicaof("127.0.0.1", str(free_port()))

    (finding,) = office.found("Redis", redis_url=redis.url)

    assert not finding.is_well
    assert "Put the address of its master into LEASEHOLD_REDIS_URL" in finding.detail


def test_a_redis_that_is_not_there_is_told_without_its_password(office: Office, redis: RedisServer) -> None:
    nowhere = f"redis://ann:{SECRET}@127.0.0.1:{free_port()}/0"
    wrong = redis.url.replace("redis://", f"redis://ann:{SECRET}@")

    told = [office.found("Redis", redis_url=url)[0] for url in (nowhere, wrong, f"http://{SECRET}")]

    assert [one.is_well for one in told] == [False] * 3
    assert "Redis does not answer (ConnectionError). See that it runs there" in told[0].detail
    assert "does not know this user, or not with this password" in told[1].detail
    assert "Write it as redis://host:port/0" in told[2].detail


@pytest.mark.parametrize(
    ("more", "what", "setting"),
    [
        ("transport: amqp\n", "RabbitMQ", "LEASEHOLD_AMQP_URL"),
        ("writer: {phase: stream}\n", "Redis", "LEASEHOLD_REDIS_URL"),
        ("writer: {target: mongo}\n", "mongo", "LEASEHOLD_MONGO_URL"),
        ("writer: {phase: dual, shadow: mongo}\n", "mongo", "LEASEHOLD_MONGO_URL"),
    ],
)
def test_what_a_platform_needs_and_no_setting_names_is_told(office: Office, more: str, what: str, setting: str) -> None:
    office.needs(more)

    (finding,) = office.found(what)

    assert not finding.is_well
    assert f"is needed by alpha, and {setting} is empty. Set it: " in finding.detail


def test_a_mongo_that_only_results_go_to_is_looked_at(office: Office, mongo_database: MongoDatabase) -> None:
    office.needs("writer: {target: mongo}\n")

    (well,) = office.found("mongo", mongo_url=mongo_database.url)
    (ill,) = office.found("mongo", mongo_url=f"http://ann:{SECRET}@127.0.0.1/x")

    assert well.is_well, well  # it has none of the indexes that pools need, and needs none
    assert "writes reach a majority" in well.detail
    assert not ill.is_well
    assert "LEASEHOLD_MONGO_URL" in ill.detail


def test_the_address_for_alerts_is_looked_up_and_not_called(office: Office) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.settimeout(0)
        url = f"http://localhost:{server.getsockname()[1]}/{SECRET}"

        (bare,) = office.found("alerts", alert_url=url)
        (signed,) = office.found("alerts", alert_url=url, alert_secret=SECRET)
        with pytest.raises(BlockingIOError):  # nobody has knocked
            server.accept()

    assert (bare.is_well, signed.is_well) == (True, True)
    assert signed.detail == "go to localhost, which this machine finds; it was not called"
    assert bare.detail.endswith("they are not signed: LEASEHOLD_ALERT_SECRET does that")


@pytest.mark.parametrize(
    ("url", "said"),
    [
        (f"https://hooks.invalid/{SECRET}", "hooks.invalid is not known to this machine. See that it is spelled right"),
        (f"https://host:port/{SECRET}", "is no address. Write it as https://host/path."),
        (f"https://:80/{SECRET}", "is no address. Write it as https://host/path."),
        (f"https://{'a' * 64}.example/{SECRET}", "is not known to this machine"),
    ],
)
def test_an_address_for_alerts_that_leads_nowhere_is_told(office: Office, url: str, said: str) -> None:
    (finding,) = office.found("alerts", alert_url=url)

    assert not finding.is_well
    assert said in finding.detail
