"""Every setting there is, read once at the start; nothing else in the house reads the environment."""

import difflib
import os
import re
import tomllib
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, Field, SecretStr, ValidationError, field_validator
from pydantic_settings import BaseSettings, PydanticBaseSettingsSource, SettingsConfigDict, TomlConfigSettingsSource

PREFIX = "LEASEHOLD_"
CONFIG_FILE = "leasehold.toml"
BOOTSTRAP_TOKEN = re.compile(r"lh_[A-Za-z0-9]{24,}\Z")


class SettingsInvalid(Exception):
    """Some setting is wrong; the message names each and says what it may be."""


def default_data_dir(environment: Mapping[str, str] = os.environ) -> Path:
    """A checkout keeps its data to itself; an installed leasehold has a folder of the user's, or of the system's."""
    checkout = Path(__file__).parents[2]
    if (checkout / "hatch_build.py").is_file():
        return checkout / ".data"
    if os.geteuid() == 0:
        return Path("/var/lib/leasehold/default")
    home = Path(environment.get("XDG_DATA_HOME") or Path.home() / ".local" / "share")
    return home / "leasehold"


def _database_url(url: SecretStr) -> SecretStr:
    if url.get_secret_value() and not re.match(r"postgres(ql)?://", url.get_secret_value()):
        raise ValueError("must be empty (embedded PostgreSQL) or start with postgresql://")
    return url


def _amqp_url(url: SecretStr) -> SecretStr:
    if url.get_secret_value() and not re.match(r"amqps?://", url.get_secret_value()):
        raise ValueError("must be empty (no RabbitMQ) or start with amqp:// or amqps://")
    return url


def _http_url(url: SecretStr) -> SecretStr:
    if url.get_secret_value() and not re.match(r"https?://[^/\s]", url.get_secret_value()):
        raise ValueError("must be empty or start with http:// or https://")
    return url


def _provider_url(url: str) -> str:
    if not re.match(r"https?://[^/\s@]+(/[^\s@?#]*)?\Z", url):
        raise ValueError("must start with http:// or https://, and have no name or password in it")
    return url


class Settings(BaseSettings):
    """How one leasehold process is set up. Each field is `LEASEHOLD_<NAME>` or a key of `leasehold.toml`."""

    model_config = SettingsConfigDict(env_prefix=PREFIX, extra="ignore", frozen=True, env_ignore_empty=True)

    data_dir: Path = Field(default_factory=default_data_dir)
    """Where everything that must survive a restart is kept: the embedded database, keys, blobs."""

    host: str = Field("127.0.0.1", min_length=1, max_length=253)
    """The address the server listens on. Anything but loopback should stand behind TLS."""

    port: int = Field(8700, ge=0, le=65535)
    """The port the server listens on; 0 takes any free one."""

    database_url: Annotated[SecretStr, AfterValidator(_database_url)] = SecretStr("")
    """`postgresql://` address of the owner of the database; empty means embedded PostgreSQL in the data folder."""

    database_pool_size: int = Field(16, ge=2, le=200)
    """Connections one process keeps open to PostgreSQL at the most."""

    pools: Literal["postgres", "mongo"] = "postgres"
    """Which store the account and session pools are in; `leasehold migrate-pools` moves them."""

    mongo_url: SecretStr = SecretStr("")
    """`mongodb://` address of the replica set that holds the pools; its database is `leasehold` unless it names one."""

    keys: SecretStr = SecretStr("")
    """Keys that seal secrets, `id:base64` of 32 bytes each, by commas, newest first; `up` makes one if empty."""

    lease_max_age_seconds: int = Field(86_400, ge=3600, le=2_592_000)
    """How old a lease may grow, however often it is renewed."""

    bootstrap_token: SecretStr | None = None
    """The admin token of organisation `default` on an empty database: `lh_` and at least 24 letters or digits."""

    body_limit_bytes: int = Field(16 * 1024 * 1024, ge=1024, le=1024 * 1024 * 1024)
    """The largest request body, counted as it arrives."""

    platforms_dir: Path | None = None
    """The folder of platform files, read again whenever one changes; empty means the ones that are shipped."""

    collectors_dir: Path | None = None
    """A folder whose `prices.yaml`, `amazon.yaml` and `ebay.yaml` stand over the ones that are shipped."""

    linking_file: Path | None = None
    """A YAML file that says, kind by kind, how records are linked to entities; empty means what is shipped."""
    sources_dir: Path | None = None
    """The folder of source files, read again whenever one changes; empty means the shipped ones, all switched off."""

    source_queue_bytes: int = Field(64 * 1024 * 1024, ge=1024, le=64 * 1024**3)
    """While more than this waits to be written, sources are asked for nothing."""

    oxylabs_url: Annotated[str, AfterValidator(_provider_url)] = "https://realtime.oxylabs.io"
    """Where the Oxylabs Realtime API is, which the collector `amazon` goes through."""

    oxylabs_username: SecretStr = SecretStr("")
    """The user of the Oxylabs API."""

    oxylabs_password: SecretStr = SecretStr("")
    """That user's password."""

    ebay_url: Annotated[str, AfterValidator(_provider_url)] = "https://api.ebay.com"
    """Where eBay's API is, which the collector `ebay` goes through."""

    ebay_client_id: SecretStr = SecretStr("")
    """The application's id at eBay (App ID)."""

    ebay_client_secret: SecretStr = SecretStr("")
    """The application's secret at eBay (Cert ID)."""

    redis_url: SecretStr = SecretStr("")
    """`redis://` address of the Redis that results may go through on their way to where they are kept."""

    amqp_url: Annotated[SecretStr, AfterValidator(_amqp_url)] = SecretStr("")
    """`amqp://` or `amqps://` address of RabbitMQ, for platforms whose transport that is; empty means none."""

    limits_organisation: str = "default"
    """Whose operators may change the limits of platforms live, which hold for all: an organisation's slug."""

    amqp_users: dict[str, str] = Field(default_factory=dict)
    """Whose messages are whose: users of the broker and the slugs of their organisations; all others are `default`."""

    blob_url: SecretStr = SecretStr("")
    """Where the bytes of captures are kept: any address fsspec knows; empty means `blobs` in the data folder."""

    artifact_url: SecretStr = SecretStr("")
    """Where artefacts are published: any address fsspec knows; empty means `artifacts` in the data folder."""

    artifact_interval_seconds: int = Field(60, ge=0, le=86_400)
    """How often artefacts are published; 0 means only when `leasehold artifacts publish` is run."""

    artifact_history: int = Field(60, ge=0, le=1000)
    """How many editions of each artefact are kept, the last one included."""

    status_shows_spend: bool = True
    """Show on the public status page what all runs together spent today."""

    capture_limit_bytes: int = Field(1024**3, ge=1024, le=64 * 1024**3)
    """The largest upload of a capture, all its files together, counted as it arrives."""

    capture_file_limit_bytes: int = Field(512 * 1024**2, ge=1024, le=64 * 1024**3)
    """The largest file of a capture."""

    receive_timeout_seconds: float = Field(10.0, gt=0, le=600)
    """How long a client may take to send a request, plus one second for each 64 KiB of it."""

    shutdown_timeout_seconds: int = Field(10, ge=0, le=600)
    """How long requests under way, and calls that runs pay for, may take to end once the server was told to stop."""

    alert_url: Annotated[SecretStr, AfterValidator(_http_url)] = SecretStr("")
    """`http(s)://` address that is called when something needs an operator; empty means nobody is."""

    alert_secret: SecretStr = SecretStr("")
    """What alerts are signed with, so that whoever receives one knows where it came from; empty means they are not."""

    faces_file: Path | None = None
    """The file that switches faces on, for the sources it names (docs/faces.md); empty means they are off."""

    faces_allow_private: bool = False
    """Let pictures be fetched from private and loopback addresses, and any port (for tests alone)."""

    metrics_public: bool = False
    """Serve `/metrics` without a token (for a scraper on a private network)."""

    allow_special_hosts: bool = False
    """Let a site live on `localhost`, `.local`, `.internal` and the like (for tests and intranets)."""

    log_level: Literal["debug", "info", "warning", "error"] = "info"
    """The least important events that are still logged."""

    log_format: Literal["console", "json"] = "console"
    """`console` for people, `json` for machines; both go to standard error."""

    @field_validator("data_dir")
    @classmethod
    def _absolute(cls, folder: Path) -> Path:
        return folder.expanduser().absolute()

    @field_validator("bootstrap_token")
    @classmethod
    def _is_a_token(cls, token: SecretStr | None) -> SecretStr | None:
        if token is not None and not BOOTSTRAP_TOKEN.match(token.get_secret_value()):
            raise ValueError("must be lh_ followed by at least 24 letters or digits")
        return token

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,
        dotenv_settings: PydanticBaseSettingsSource,
        file_secret_settings: PydanticBaseSettingsSource,
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        """What the command line says stands over the environment, and that over the file."""
        return init_settings, env_settings, TomlConfigSettingsSource(settings_cls, CONFIG_FILE)


class _Alone(Settings):
    """What is given and nothing else: no variable and no file."""

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,
        dotenv_settings: PydanticBaseSettingsSource,
        file_secret_settings: PydanticBaseSettingsSource,
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        return (init_settings,)


def alone(**given: Any) -> Settings:
    """Settings that no variable and no file reach: what is only tried out must not touch what is configured."""
    return _Alone(**given)


def load(**given: Any) -> Settings:
    """Read the settings; `given` (the command line's own) stand over all. Raises SettingsInvalid."""
    try:
        return Settings(**{name: value for name, value in given.items() if value is not None})
    except ValidationError as error:
        raise SettingsInvalid("\n".join(_complaints(error))) from None
    except ValueError as error:  # the file is no TOML; its message names the line
        raise SettingsInvalid(f"{CONFIG_FILE} cannot be read: {error}") from None


def _complaints(error: ValidationError) -> list[str]:
    lines = []
    for fault in error.errors(include_input=False, include_url=False, include_context=False):
        name = str(fault["loc"][0])
        message = fault["msg"].removeprefix("Value error, ").removeprefix("Input ")
        lines.append(f"{PREFIX}{name.upper()} {message} (or `{name}` in {CONFIG_FILE}).")
    return lines


# What workers and the canary read: where a server is, and what lets them in there.
_OF_CLIENTS = ("url", "token")


def of_a_client(environment: Mapping[str, str] = os.environ) -> tuple[str, str]:
    """The address and the token of those who call a server; each may be empty."""
    url, token = (environment.get(PREFIX + name.upper(), "") for name in _OF_CLIENTS)
    return url, token


def variable(name: str, environment: Mapping[str, str] = os.environ) -> str:
    """A variable that a file of the operator names, such as the one with a source's key; empty where there is none."""
    return environment.get(name, "").strip()


def traces(environment: Mapping[str, str] = os.environ) -> tuple[str | None, str]:
    """Which exporter OpenTelemetry's own variables ask for, `otlp` or `console`, and the service's name in them."""
    said = {name: variable(name, environment) for name in _OF_TRACES}
    wanted, service = said["OTEL_TRACES_EXPORTER"].lower(), said["OTEL_SERVICE_NAME"]
    has_endpoint = said["OTEL_EXPORTER_OTLP_ENDPOINT"] or said["OTEL_EXPORTER_OTLP_TRACES_ENDPOINT"]
    if said["OTEL_SDK_DISABLED"].lower() == "true" or wanted == "none" or not (wanted or has_endpoint):
        return None, service
    if wanted not in ("", "otlp", "console"):
        raise SettingsInvalid("OTEL_TRACES_EXPORTER must be otlp, console or none.")
    protocol = said["OTEL_EXPORTER_OTLP_TRACES_PROTOCOL"] or said["OTEL_EXPORTER_OTLP_PROTOCOL"]
    if wanted != "console" and protocol not in ("", "http/protobuf"):
        raise SettingsInvalid("OTEL_EXPORTER_OTLP_PROTOCOL must be http/protobuf; collectors take it at port 4318.")
    return wanted or "otlp", service


_OF_TRACES = (
    "OTEL_SDK_DISABLED",
    "OTEL_TRACES_EXPORTER",
    "OTEL_SERVICE_NAME",
    "OTEL_EXPORTER_OTLP_ENDPOINT",
    "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT",
    "OTEL_EXPORTER_OTLP_PROTOCOL",
    "OTEL_EXPORTER_OTLP_TRACES_PROTOCOL",
)


def strangers(environment: Mapping[str, str] = os.environ) -> list[str]:
    """A sentence for each variable or key that looks like ours but is none: most often a typing error."""
    ours = [name.removeprefix(PREFIX).lower() for name in environment if name.startswith(PREFIX)]
    ours = [name for name in ours if name not in _OF_CLIENTS]
    in_file = tomllib.loads(Path(CONFIG_FILE).read_text("utf-8")) if Path(CONFIG_FILE).is_file() else {}
    variables = _unknown(ours, lambda name: PREFIX + name.upper(), "")
    return [*variables, *_unknown(in_file, str, f" in {CONFIG_FILE}")]


def _unknown(names: Iterable[str], spell: Callable[[str], str], where: str) -> Iterator[str]:
    for name in sorted(set(names) - set(Settings.model_fields)):
        near = difflib.get_close_matches(name, Settings.model_fields, n=1)
        hint = f"; did you mean {spell(near[0])}?" if near else "."
        yield f"{spell(name)}{where} is not a setting and is ignored{hint}"
