"""What the writer remembers of records, so that it need not read them again at every comparison.

Only the writer changes records, and it forgets everything when it cannot be sure of that any more.
"""

from collections import OrderedDict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from uuid import UUID

from leasehold.entities.chart import Chart
from leasehold.entities.intake import known_by, naming_itself
from leasehold.entities.models import State
from leasehold.linking import DEFAULT, Epoch, Features, Policy, Record, describe

# Some two kilobytes each.
_MOST = 150_000


@dataclass(frozen=True, slots=True)
class Current:
    """The epoch in force for a kind."""

    kind: str
    number: int
    epoch: Epoch


@dataclass(frozen=True, slots=True)
class Known:
    """A record, and what it looks like in the epoch."""

    id: UUID
    record: Record
    features: Features


class Memory:
    """Records by their nodes, those used last."""

    def __init__(self, policies: Mapping[str, Policy], most: int = _MOST) -> None:
        self.policies = policies
        self._most = most
        self._known: OrderedDict[int, Known] = OrderedDict()
        self.epochs: dict[str, Current] = {}
        # The epoch that is being moved to.
        self.coming: Current | None = None
        self.generation = -1
        self.chart = Chart()

    def policy(self, kind: str) -> Policy:
        return self.policies.get(kind, DEFAULT)

    def clear(self) -> None:
        self._known.clear()
        self.epochs.clear()
        self.coming = None
        self.generation = -1
        self.chart.clear()

    def __getitem__(self, node: int) -> Known:
        self._known.move_to_end(node)
        return self._known[node]

    def __len__(self) -> int:
        return len(self._known)

    def __contains__(self, node: int) -> bool:
        return node in self._known

    def missing(self, nodes: Iterable[int]) -> list[int]:
        return [node for node in nodes if node not in self._known]

    def learn(self, node: int, record: Record, state: State, current: Current) -> Known:
        """Remember it as it is now."""
        id_ = known_by(record.kind, record.source, record.source_id)
        known = Known(id_, record, describe(naming_itself(record, state), current.epoch))
        self._known[node] = known
        self._known.move_to_end(node)
        return known

    def forget(self, node: int) -> None:
        self._known.pop(node, None)

    def tidy(self) -> None:
        """Forget what was used longest ago; not while somebody counts on it."""
        while len(self._known) > self._most:
            self._known.popitem(last=False)
        self.chart.tidy()
