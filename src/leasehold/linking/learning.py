"""Learning an epoch from a file of records, without labels, and from what reviewers decided."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import replace

import numpy as np

from leasehold.linking.choosing import choose
from leasehold.linking.counting import count
from leasehold.linking.epochs import NAME, Epoch, Weights, prior
from leasehold.linking.expecting import Floats, Frame, Model, fit
from leasehold.linking.features import Features
from leasehold.linking.keys import Keymaker, all_rules, prefix_of
from leasehold.linking.looking import across, look, population, rivals
from leasehold.linking.pairing import CHANCE, NEAR, Blocks, Pairs, by_chance
from leasehold.linking.policy import Policy
from leasehold.linking.records import Record
from leasehold.linking.tables import NAME_MOVES, VALUE_MOVES, Tables

Decision = tuple[Record, Record, bool]

_FEW = 20  # records that nothing can be learned from
_ENTITIES = 0.3  # the first guess: as many pairs are one thing as this part of the records
_SURE = 0.9  # pairs from which it is chosen how others are found


def learn(records: Iterable[Record], policy: Policy, decisions: Iterable[Decision] = ()) -> Epoch:
    """The epoch of these records, all of one kind: the same in whatever order they come."""
    ordered = sorted({record.place: record for record in records}.values(), key=lambda record: record.place)
    if len(ordered) < _FEW:
        return prior(policy)
    counted = count(ordered, policy)
    tables = Tables(counted)
    rules = {prefix_of(rule, tables): rule for rule in all_rules(tables)}
    keymaker = Keymaker(tables, list(rules.values()))
    described = [Features(record, tables, keymaker) for record in ordered]
    blocks = Blocks(described, policy.hub)
    near, scale = blocks.pairs(policy.hub, len(described), NEAR // (1 + len(tables.fields)))
    near, decided = _answered(across(near, described, policy), ordered, decisions)
    frame = _frame(near, described, tables, scale)
    frame.near.decided = decided
    model, sure = fit(frame, replace(frame.believed, odds=math.log(_ENTITIES * len(described) / frame.population)))
    chosen = choose(blocks, described, near[sure > _SURE], scale)
    return Epoch(
        policy=policy,
        weights=_weights(counted, tables, model),
        frequencies=counted.frequencies,
        hubs=blocks.hubs(chosen),
        rules=tuple(sorted({rules[prefix] for prefix, _ in chosen if prefix in rules})),
        records=len(ordered),
        odds=round(model.odds / math.log(2), 2),
    ).sealed()


def _answered(near: Pairs, ordered: Sequence[Record], decisions: Iterable[Decision]) -> tuple[Pairs, Floats]:
    """Near pairs, those last that somebody has decided on, and what was decided. Only records of the file can tell."""
    seat = {record.place: at for at, record in enumerate(ordered)}
    said = {
        (min(seat[a.place], seat[b.place]), max(seat[a.place], seat[b.place])): float(same)
        for a, b, same in decisions
        if a.place in seat and b.place in seat and a.place != b.place
    }
    pairs = np.array(sorted(said), dtype=np.int64).reshape(-1, 2)
    total = len(ordered)
    known = np.isin(near[:, 0] * total + near[:, 1], pairs[:, 0] * total + pairs[:, 1])
    return np.concatenate([near[~known], pairs]), np.array([said[pair] for pair in sorted(said)])


def _frame(near: Pairs, described: Sequence[Features], tables: Tables, scale: float) -> Frame:
    policy = tables.epoch.policy
    chance = across(by_chance(len(described), CHANCE // (1 + len(tables.fields))), described, policy)
    looked = look(near, described, tables)
    looked.rivals = rivals(near, described, policy)
    return Frame(
        near=looked,
        chance=look(chance, described, tables),
        scale=scale,
        population=population(described, policy),
        believed=_believed(tables),
        moves=[NAME_MOVES] + [VALUE_MOVES] * len(tables.fields),
        ordered=[True] + [field.weights.compare in ("text", "category") for field in tables.fields],
    )


def _weights(counted: Epoch, tables: Tables, model: Model) -> dict[str, Weights]:
    weights = dict(counted.weights)
    for at, key in enumerate([NAME, *(field.key for field in tables.fields)]):
        same, other, usual = (_rounded(column[at]) for column in (model.same, model.other, model.usual))
        weights[key] = replace(weights[key], same=same, other=other, usual=usual)
    return weights


def _rounded(numbers: Iterable[float]) -> tuple[float, ...]:
    # Sums differ in their last digits from machine to machine; an epoch should not.
    return tuple(float(f"{number:.6g}") for number in numbers)


def _believed(tables: Tables) -> Model:
    every = [tables.epoch.weights[NAME], *(field.weights for field in tables.fields)]
    return Model(
        same=[np.array(one.same) for one in every],
        other=[np.array(one.other) for one in every],
        usual=[np.array(one.usual or [0.0] * len(one.same)) for one in every],
        odds=0.0,
    )
