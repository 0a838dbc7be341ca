"""Epochs: weights, frequencies and hubs, frozen together, so that no answer depends on what came before."""

import hashlib
import json
import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Self

from leasehold.linking import names, values
from leasehold.linking.policy import Policy

NAME = "name"  # the field that every record has

# What is believed of each level before anything is learned: how often the same thing shows it, and strangers do.
PRIORS: Mapping[str, tuple[tuple[float, ...], tuple[float, ...]]] = {
    NAME: ((0.60, 0.14, 0.12, 0.06, 0.04, 0.02, 0.02), (2e-5, 4e-5, 1e-4, 1e-3, 1e-2, 5e-2, 0.94)),
    "date": ((0.78, 0.01, 0.08, 0.01, 0.05, 0.03, 0.02, 0.02), (1e-4, 1e-3, 2e-2, 1e-4, 1e-3, 2e-2, 6e-2, 0.90)),
    "number": ((0.70, 0.05, 0.08, 0.10, 0.07), (0.02, 0.03, 0.10, 0.20, 0.65)),
    "category": ((0.90, 0.03, 0.07), (0.30, 0.02, 0.68)),
    "text": ((0.60, 0.14, 0.10, 0.08, 0.08), (0.01, 0.01, 0.02, 0.06, 0.90)),
}
RARE = 1 / 20_000  # how common a token or value is taken to be that no epoch has counted
# Two tokens nobody has counted are what two names usually share; one alone says less.
USUAL = (28.6, 28.6, 24.0, 18.0, 14.3, 7.0, 0.0)
ODDS = -17.0  # the prior: one pair in 130,000 is one thing, before anything is learned


@dataclass(frozen=True, slots=True)
class Weights:
    """What the levels of one field say. Learned from a file, or believed beforehand."""

    compare: str  # a comparison of values.LEVELS, NAME or ignore
    same: tuple[float, ...]  # how often pairs that are one thing show a level
    other: tuple[float, ...]  # how often strangers do
    usual: tuple[float, ...] = ()  # the information strangers share at a level: what is rarer says more
    new_year_is_unknown: bool = False  # 1 January stands for a year of which no more is known

    @property
    def levels(self) -> tuple[str, ...]:
        return names.LEVELS if self.compare == NAME else values.LEVELS[self.compare]

    def bits(self) -> tuple[float, ...]:
        return tuple(math.log2(m / u) for m, u in zip(self.same, self.other, strict=True))

    @classmethod
    def believed(cls, compare: str) -> Self:
        same, other = PRIORS[compare]
        return cls(compare=compare, same=same, other=other, usual=USUAL if compare == NAME else ())

    def to_json(self) -> dict[str, Any]:
        return {
            "compare": self.compare,
            "same": list(self.same),
            "other": list(self.other),
            "usual": list(self.usual),
            "new_year_is_unknown": self.new_year_is_unknown,
        }

    @classmethod
    def from_json(cls, document: Mapping[str, Any]) -> Self:
        return cls(
            compare=document["compare"],
            same=tuple(document["same"]),
            other=tuple(document["other"]),
            usual=tuple(document["usual"]),
            new_year_is_unknown=document["new_year_is_unknown"],
        )


@dataclass(frozen=True, slots=True)
class Epoch:
    policy: Policy
    weights: Mapping[str, Weights]  # by field; a key that is not here is compared by the type it shows
    frequencies: Mapping[str, Mapping[str, int]] = field(default_factory=dict)  # by field: values seen twice or more
    hubs: frozenset[str] = frozenset()  # keys too common to say anything
    rules: tuple[str, ...] = ()  # which keys are made; empty: those that need no counting
    records: int = 0  # how many the epoch was learned from
    odds: float = ODDS  # the prior in bits
    version: str = ""  # the digest of all of the above

    def sealed(self) -> "Epoch":
        """This epoch with the version its content gives it."""
        content = json.dumps(self._content(), sort_keys=True, separators=(",", ":"))
        return replace(self, version=hashlib.blake2b(content.encode(), digest_size=12).hexdigest())

    def _content(self) -> dict[str, Any]:
        return {
            "policy": self.policy.to_json(),
            "weights": {name: self.weights[name].to_json() for name in sorted(self.weights)},
            "frequencies": {name: dict(sorted(self.frequencies[name].items())) for name in sorted(self.frequencies)},
            "hubs": sorted(self.hubs),
            "rules": list(self.rules),
            "records": self.records,
            "odds": self.odds,
        }

    def to_json(self) -> dict[str, Any]:
        return {"version": self.version} | self._content()

    @classmethod
    def from_json(cls, document: Mapping[str, Any]) -> "Epoch":
        """Read back. Raises ValueError when the content is not what the version was given to."""
        epoch = cls(
            policy=Policy.kept(document["policy"]),
            weights={name: Weights.from_json(one) for name, one in document["weights"].items()},
            frequencies=document["frequencies"],
            hubs=frozenset(document["hubs"]),
            rules=tuple(document["rules"]),
            records=document["records"],
            odds=document["odds"],
        ).sealed()
        if epoch.version != document["version"]:
            raise ValueError(f"epoch {document['version']} was changed: its content is that of {epoch.version}")
        return epoch


def prior(policy: Policy) -> Epoch:
    """The epoch of those who have learned nothing yet: what the policy names, weighed as is usual."""
    weights = {NAME: Weights.believed(NAME)}
    for key, attribute in policy.attributes.items():
        if attribute.compare == "ignore":
            weights[key] = Weights(compare="ignore", same=(), other=())
        elif attribute.compare:
            weights[key] = Weights.believed(attribute.compare)
    return Epoch(policy=policy, weights=weights).sealed()
