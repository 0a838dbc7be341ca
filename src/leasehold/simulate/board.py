"""A board behind a login, as its members meet it: it blocks whoever is in two places at once, and it moves house."""

import random
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from enum import StrEnum

# A member that was seen so lately is still taken to be there.
LINGER_S = 2.0
# A session cookie is good for so many pages; with the last one comes the next cookie.
PAGES_PER_SID = 4
_WORDS = ("amber", "birch", "cedar", "delta", "ember", "fjord", "grove", "heath", "islet", "knoll", "moss", "pond")


class Refused(StrEnum):
    """Why somebody does not get a page."""

    STRANGER = "stranger"  # nobody is signed in with that cookie
    WRONG_PASSWORD = "wrong_password"  # noqa: S105 (a reason, no password)
    BLOCKED = "blocked"
    TOO_OFTEN = "too_often"


@dataclass(slots=True)
class Member:
    """An account of the board, and what became of it."""

    name: str
    password: str
    sid: str | None = None
    pages: int = 0  # with this sid
    visitor: str | None = None  # who was here last
    seen_at: float = 0.0
    read_at: list[float] = field(default_factory=list)  # within the last minute
    devices: set[str] = field(default_factory=set)
    sign_ins: int = 0
    sessions_lost: int = 0  # signed in while the board still had a session of it
    devices_lost: int = 0  # signed in without the cookie of a device that was trusted
    blocked: str | None = None  # why


@dataclass(frozen=True, slots=True)
class Welcomed:
    """Somebody who is signed in, with the cookies to set."""

    member: str
    sid: str | None = None
    device: str | None = None


class Board:
    """What the board knows. A visitor is who it takes somebody for, by what their program calls itself."""

    def __init__(
        self,
        accounts: int = 20,
        threads: int = 60,
        seed: int = 1,
        host: str = "board.localhost",
        most_per_minute: int | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._chance = random.Random(seed)  # noqa: S311 (the same board for the same seed)
        self._clock = clock
        self._begun = clock()
        self._sids: dict[str, Member] = {}
        self.seed = seed
        self.threads = threads
        self.hosts = [host]  # the last one is where it lives
        self.most_per_minute = most_per_minute
        self.members = {member.name: member for member in map(self._new_member, range(1, accounts + 1))}
        self.served: Counter[int] = Counter()  # threads that members were shown

    @property
    def host(self) -> str:
        return self.hosts[-1]

    def move(self, host: str) -> None:
        """Live elsewhere from now on; the old address leads there."""
        self.hosts = [*(one for one in self.hosts if one != host), host]

    def sign_in(self, name: str, password: str, device: str, visitor: str) -> Welcomed | Refused:
        """Let somebody in. There is one session for each account: another one, if there is, ends here."""
        member = self.members.get(name)
        if member is None or member.password != password:
            return Refused.WRONG_PASSWORD
        if self._met(member, visitor):
            return Refused.BLOCKED
        new = None if device in member.devices else self._token("d")
        member.sign_ins += 1
        member.sessions_lost += member.sid is not None
        member.devices_lost += bool(new and member.devices)
        member.devices |= {new} if new else set()
        return Welcomed(name, self._next_sid(member), new)

    def page(self, sid: str, visitor: str, thread: int | None = None) -> Welcomed | Refused:
        """Show a page to whoever has that cookie; each so-manieth page replaces it."""
        member = self._sids.get(sid)
        if member is None:
            return Refused.STRANGER
        if self._met(member, visitor):
            return Refused.BLOCKED
        if self.most_per_minute and len(member.read_at) >= self.most_per_minute:
            return Refused.TOO_OFTEN
        member.read_at.append(member.seen_at)
        member.pages += 1
        if thread is not None:
            self.served[thread] += 1
        return Welcomed(member.name, self._next_sid(member) if member.pages >= PAGES_PER_SID else None)

    def forget(self, name: str) -> None:
        """End somebody's session, as sites do over night."""
        member = self.members[name]
        if member.sid:
            del self._sids[member.sid]
            member.sid = None

    def unblock(self, name: str) -> None:
        self.members[name].blocked = None

    def posts(self, thread: int) -> list[str]:
        """What was written in a thread so far; it goes on, in each at its own pace."""
        words = random.Random(f"{self.seed}/{thread}")  # noqa: S311
        count = 3 + int((self._clock() - self._begun) / (10 * (thread % 7 + 1)))
        return [" ".join(words.choices(_WORDS, k=8)) for _ in range(count)]

    def truth(self) -> dict[str, object]:
        """What really happened, account by account and in all."""
        members = self.members.values()
        return {
            "host": self.host,
            "accounts": {
                one.name: {
                    "blocked": one.blocked,
                    "sign_ins": one.sign_ins,
                    "sessions_lost": one.sessions_lost,
                    "devices_lost": one.devices_lost,
                }
                for one in members
            },
            "blocked": sum(one.blocked is not None for one in members),
            "sign_ins": sum(one.sign_ins for one in members),
            "sessions_lost": sum(one.sessions_lost for one in members),
            "devices_lost": sum(one.devices_lost for one in members),
            "pages": len(self.served),
            "pages_again": self.served.total() - len(self.served),
        }

    def _met(self, member: Member, visitor: str) -> bool:
        """Note that somebody uses an account; whether it is blocked now."""
        now = self._clock()
        if member.visitor not in (None, visitor) and now - member.seen_at < LINGER_S and not member.blocked:
            member.blocked = f"used by {member.visitor} and {visitor} at once"
        member.visitor, member.seen_at = visitor, now
        member.read_at = [at for at in member.read_at if now - at < 60]
        return member.blocked is not None

    def _next_sid(self, member: Member) -> str:
        if member.sid:
            del self._sids[member.sid]
        member.sid, member.pages = self._token("s"), 0
        self._sids[member.sid] = member
        return member.sid

    def _new_member(self, number: int) -> Member:
        word = self._chance.choice(_WORDS)
        return Member(f"{word}-{number:02}", self._token("p"))

    def _token(self, kind: str) -> str:
        return f"{kind}{self._chance.getrandbits(64):016x}"
