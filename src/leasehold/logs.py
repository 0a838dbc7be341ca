"""Logs are events on standard error, and no secret gets into one."""

import logging
import re
import sys
from typing import Any

import structlog
from structlog.typing import EventDict, WrappedLogger

# Whatever looks like one of our tokens, wherever it stands.
_TOKEN = re.compile(r"lh_[A-Za-z0-9]{8,}")
# userinfo in any URL: database and broker addresses carry passwords there.
_USERINFO = re.compile(r"(?<=://)[^/\s@]+@")
_SECRET_KEYS = frozenset(
    {"authorization", "cookie", "password", "secret", "set-cookie", "token", "ticket", "storage_state"}
)
HIDDEN = "[hidden]"


def configure(level: str, style: str) -> None:
    """Set up structlog, and send what libraries log through the same door."""
    structlog.configure(
        processors=[*_shared(), structlog.stdlib.ProcessorFormatter.wrap_for_formatter],
        logger_factory=structlog.stdlib.LoggerFactory(),
        # What is below the level costs nothing: most events are, where somebody is in a hurry.
        wrapper_class=structlog.make_filtering_bound_logger(level),
        cache_logger_on_first_use=False,
    )
    # Python's own answer to a line it cannot format is to print it raw, secrets and all.
    logging.raiseExceptions = False
    handler = _Stderr()
    handler.setFormatter(
        structlog.stdlib.ProcessorFormatter(
            foreign_pre_chain=_shared(),
            processors=[
                structlog.stdlib.ProcessorFormatter.remove_processors_meta,
                structlog.processors.format_exc_info,
                redact,
                _renderer(style),
            ],
        )
    )
    root = logging.getLogger()
    root.handlers = [handler]
    root.setLevel(level.upper())
    # These say in prose what we log as events, or name URLs in full.
    logging.getLogger("uvicorn.access").disabled = True
    for chatty in ("httpx", "uvicorn.error", "psycopg.pool", "yoyo.migrations"):
        logging.getLogger(chatty).setLevel(max(logging.WARNING, root.level))
    # Warns of every body it cannot read, which is for whoever sent it to know.
    logging.getLogger("python_multipart").setLevel(logging.ERROR)


class _Stderr(logging.StreamHandler[Any]):
    """Writes to what standard error is now, not to what it was when logging was set up."""

    def emit(self, record: logging.LogRecord) -> None:
        self.stream = sys.stderr
        super().emit(record)


def get(name: str) -> structlog.stdlib.BoundLogger:
    logger: structlog.stdlib.BoundLogger = structlog.stdlib.get_logger(name)
    return logger


def redact(_logger: WrappedLogger, _method: str, event: EventDict) -> EventDict:
    """Hide what is named like a secret or looks like a token. The last line of defence, not the first."""
    return {key: HIDDEN if key.lower() in _SECRET_KEYS else _clean(value) for key, value in event.items()}


def _clean(value: Any) -> Any:
    match value:
        case str():
            return _USERINFO.sub(f"{HIDDEN}@", _TOKEN.sub(HIDDEN, value))
        case dict():
            return {key: HIDDEN if str(key).lower() in _SECRET_KEYS else _clean(inner) for key, inner in value.items()}
        case list() | tuple():
            return [_clean(inner) for inner in value]
    return value


def _shared() -> list[Any]:
    return [
        structlog.contextvars.merge_contextvars,
        structlog.stdlib.add_log_level,
        structlog.stdlib.add_logger_name,
        structlog.processors.TimeStamper(fmt="iso", utc=True),
        structlog.stdlib.ExtraAdder(),
    ]


def _renderer(style: str) -> Any:
    if style == "json":
        return structlog.processors.JSONRenderer(default=str)
    return structlog.dev.ConsoleRenderer(colors=sys.stderr.isatty(), exception_formatter=structlog.dev.plain_traceback)
