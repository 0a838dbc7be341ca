"""Sessions in virtual time: contexts load what is handed out, the site replaces cookies and takes them away, and
uploads arrive late, twice and in any order: all orders leave the same bytes, and the newest word on a cookie stands.
"""

import random
from collections import Counter
from dataclasses import dataclass
from typing import Any

from leasehold.sessions import (
    Canonical,
    Health,
    History,
    Operations,
    Source,
    Upload,
    decode,
    derive,
    encode,
    hand_out,
    handed_out,
    join,
    read_state,
)
from tests.sessions.soundness import faults
from tests.sessions.states import ALL, EVERYTHING, KEY, cookie, state
from tests.simulation.storm import storm

NAMES = ("sid", "csrf", "device", "lang")
UPLOADS = 8


@dataclass
class Context:
    """A browser that somebody has open."""

    cookies: dict[str, str]
    base: Canonical
    since_s: int


class World:
    def __init__(self, seed: int) -> None:
        self.rng = random.Random(seed)  # noqa: S311
        self.now_s = 1
        self.history = History()
        self.contexts: list[Context] = []
        self.made: list[Operations] = []
        self.waiting: list[Operations] = []
        # Which value each cookie was given last, by when it was; only of those that nobody ever took away.
        self.newest: dict[str, tuple[int, str]] = {}
        self.removed: set[str] = set()
        self.values = 0
        self.seen: Counter[str] = Counter()

    def step(self) -> None:
        self.now_s += self.rng.randint(1, 50)
        if not self.contexts or self.rng.random() < 0.3:
            self.load()
        elif self.rng.random() < 0.6:
            self.upload(self.rng.choice(self.contexts))
        else:
            self.arrive()

    def load(self) -> None:
        held = hand_out(self.history, self.now_s, ALL).state
        assert faults(held, self.now_s) == [], "what is handed out does not load"
        values = {one["name"]: one["value"] for one in held["cookies"]}
        self.contexts.append(Context(values, handed_out(self.history, self.now_s, ALL), self.now_s))

    def upload(self, context: Context) -> None:
        for name in self.rng.sample(NAMES, self.rng.randint(1, 2)):
            if name in context.cookies and self.rng.random() < 0.15:
                del context.cookies[name]
                self.removed.add(name)
                self.seen["taken away"] += 1
            else:
                self.values += 1
                context.cookies[name] = f"v{self.values}"
                self.newest[name] = self.now_s, f"v{self.values}"
        held: dict[str, Any] = state(*(cookie(name, value) for name, value in context.cookies.items()))
        found = read_state(held, EVERYTHING, self.now_s)
        given = Upload(
            f"u{len(self.made)}",
            self.now_s * 1000,
            found,
            Source.CONTEXT,
            Health.OK,
            handed_out=float(context.since_s),
        )
        done = derive(given, context.base, KEY)
        self.made.append(done)
        self.waiting += [done] * self.rng.choice([1, 1, 2])
        # Its next upload begins where this one ended.
        context.base, context.since_s = found, self.now_s

    def arrive(self) -> None:
        if self.waiting:
            place = self.rng.randrange(len(self.waiting))
            self.seen["late"] += place > 0
            self.seen["arrived"] += 1
            self.history = join(self.history, self.waiting.pop(place), KEY)
            if self.rng.random() < 0.2:
                self.history = decode(encode(self.history))


def joined(operations: list[Operations]) -> History:
    history = History()
    for one in operations:
        history = join(history, one, KEY)
    return history


def play(seed: int) -> Counter[str]:
    world = World(seed)
    while len(world.made) < UPLOADS:
        world.step()
    while world.waiting:
        world.arrive()

    wanted = encode(joined(world.made))
    assert encode(world.history) == wanted, "late and twice is another history"
    shuffled = world.rng.sample(world.made * 2, 2 * len(world.made))
    assert encode(joined(shuffled)) == wanted, "another order is another history"
    shown = {one["name"]: one["value"] for one in hand_out(world.history, world.now_s, ALL).state["cookies"]}
    for name, (_, value) in world.newest.items():
        if name not in world.removed:
            assert shown.get(name) == value, f"the newest word on {name!r} does not stand"
            world.seen["newest stands"] += 1
    return world.seen


def test_any_order_leaves_the_same_and_the_newest_word_stands() -> None:
    storm(play, {"arrived", "late", "taken away", "newest stands"}, share=0.5)
