"""Who may what: every permission there is, and the roles that bundle them."""

from enum import StrEnum


class Permission(StrEnum):
    """One thing a token may do. A route names exactly one."""

    ACCOUNTS_VIEW = "accounts.view"
    ACCOUNTS_USE = "accounts.use"
    ACCOUNTS_MANAGE = "accounts.manage"
    ACCOUNTS_REVEAL = "accounts.reveal"  # see a secret outside a lease; always audited
    AUDIT_VIEW = "audit.view"
    CAPTURES_VIEW = "captures.view"
    CAPTURES_WRITE = "captures.write"
    CAPTURES_CONSUME = "captures.consume"
    ENTITIES_VIEW = "entities.view"
    ENTITIES_MANAGE = "entities.manage"
    JOBS_VIEW = "jobs.view"
    JOBS_SUBMIT = "jobs.submit"
    JOBS_MANAGE = "jobs.manage"
    LEASES_VIEW = "leases.view"
    LEASES_MANAGE = "leases.manage"  # revoke what others hold
    METRICS_VIEW = "metrics.view"
    RUNS_VIEW = "runs.view"
    RUNS_MANAGE = "runs.manage"
    SEEDS_VIEW = "seeds.view"
    SEEDS_USE = "seeds.use"
    SEEDS_MANAGE = "seeds.manage"
    SESSIONS_VIEW = "sessions.view"
    SESSIONS_USE = "sessions.use"
    SESSIONS_MANAGE = "sessions.manage"
    SETTINGS_MANAGE = "settings.manage"
    SITES_VIEW = "sites.view"
    SITES_MANAGE = "sites.manage"
    TASKS_WORK = "tasks.work"
    TOKENS_MANAGE = "tokens.manage"


class Role(StrEnum):
    """A usual set of permissions. A token keeps the permissions it was made with."""

    COLLECTOR = "collector"  # code that collects: takes leases, hands captures over
    PRODUCER = "producer"  # a service that asks for crawls
    VIEWER = "viewer"  # sees everything but secrets, changes nothing
    OPERATOR = "operator"  # runs the place day by day
    ADMIN = "admin"  # also sees secrets, makes tokens, changes settings


_COLLECTOR = {
    Permission.ACCOUNTS_USE,
    Permission.SEEDS_USE,
    Permission.SESSIONS_USE,
    Permission.CAPTURES_WRITE,
    Permission.TASKS_WORK,
    Permission.SITES_VIEW,
    Permission.LEASES_VIEW,
}
_PRODUCER = {Permission.JOBS_SUBMIT, Permission.JOBS_VIEW}
_VIEWER = {permission for permission in Permission if permission.endswith(".view")}
_OPERATOR = (
    _VIEWER
    | _COLLECTOR
    | _PRODUCER
    | {
        Permission.ACCOUNTS_MANAGE,
        Permission.SEEDS_MANAGE,
        Permission.SESSIONS_MANAGE,
        Permission.CAPTURES_CONSUME,
        Permission.SITES_MANAGE,
        Permission.JOBS_MANAGE,
        Permission.RUNS_MANAGE,
        Permission.ENTITIES_MANAGE,
        Permission.LEASES_MANAGE,
    }
)
_ADMIN = _OPERATOR | {Permission.ACCOUNTS_REVEAL, Permission.SETTINGS_MANAGE, Permission.TOKENS_MANAGE}

PERMISSIONS: dict[Role, frozenset[Permission]] = {
    Role.COLLECTOR: frozenset(_COLLECTOR),
    Role.PRODUCER: frozenset(_PRODUCER),
    Role.VIEWER: frozenset(_VIEWER),
    Role.OPERATOR: frozenset(_OPERATOR),
    Role.ADMIN: frozenset(_ADMIN),
}
