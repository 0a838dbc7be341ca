"""Front door of sessions: the browser state of an account, merged from many captures and handed out to one.

    history = decode(stored) if stored else History()
    got = receive(history, parse_state(body), envelope, base, key, policy)   # got.report says what became of it
    stored = encode(got.history)
    given = hand_out(got.history, now, wish)                                 # given.state is what a browser takes

`base` is `Start.FRESH`, `Start.UNKNOWN`, or what the context held: `handed_out` of the version it was given, with the
time and the wish of that hand-out, or `read_state` of its own previous upload.
"""

from leasehold.sessions.canonical import (
    Canonical,
    Limits,
    Rejection,
    Rules,
    StateMalformed,
    StateTooLarge,
    parse_state,
    read_state,
)
from leasehold.sessions.drawer import Drawer
from leasehold.sessions.handout import HandOut, StorageFull, Wish, hand_out, handed_out
from leasehold.sessions.history import (
    Aside,
    Fork,
    History,
    HistoryUnreadable,
    Writer,
    blame,
    decode,
    drop_aside,
    encode,
    forks,
    join,
    prune,
    take_in,
    undo,
)
from leasehold.sessions.merge import (
    Base,
    Health,
    Operations,
    Source,
    Start,
    Upload,
    capture_time,
    derive,
)
from leasehold.sessions.mongo import MongoDrawer
from leasehold.sessions.moving import MongoShelf, PostgresShelf, Shelf, carry
from leasehold.sessions.postgres import PostgresDrawer
from leasehold.sessions.problems import SessionNotLoadable
from leasehold.sessions.projection import BOUND_TO_DOMAIN, Placement, Projection, project
from leasehold.sessions.receiving import Envelope, Policy, Received, receive, replace, roll_back
from leasehold.sessions.report import Report
from leasehold.sessions.safes import MongoSessionSafe, PostgresSessionSafe
from leasehold.sessions.service import Given, Sessions
from leasehold.sessions.slots import show

__all__ = [
    "BOUND_TO_DOMAIN",
    "Aside",
    "Base",
    "Canonical",
    "Drawer",
    "Envelope",
    "Fork",
    "Given",
    "HandOut",
    "Health",
    "History",
    "HistoryUnreadable",
    "Limits",
    "MongoDrawer",
    "MongoSessionSafe",
    "MongoShelf",
    "Operations",
    "Placement",
    "Policy",
    "PostgresDrawer",
    "PostgresSessionSafe",
    "PostgresShelf",
    "Projection",
    "Received",
    "Rejection",
    "Report",
    "Rules",
    "SessionNotLoadable",
    "Sessions",
    "Shelf",
    "Source",
    "Start",
    "StateMalformed",
    "StateTooLarge",
    "StorageFull",
    "Upload",
    "Wish",
    "Writer",
    "blame",
    "capture_time",
    "carry",
    "decode",
    "derive",
    "drop_aside",
    "encode",
    "forks",
    "hand_out",
    "handed_out",
    "join",
    "parse_state",
    "project",
    "prune",
    "read_state",
    "receive",
    "replace",
    "roll_back",
    "show",
    "take_in",
    "undo",
]
