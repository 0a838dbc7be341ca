"""Front door of linking: which records speak of one thing, and why. Pure: no database, no clock, no files."""

from leasehold.linking.comparing import (
    Evidence,
    Part,
    compare,
    is_worth_telling,
    share_an_id_or_address,
    weigher,
)
from leasehold.linking.epochs import Epoch, Weights, prior
from leasehold.linking.features import Features, describe
from leasehold.linking.graph import Graph
from leasehold.linking.learning import learn
from leasehold.linking.policy import DEFAULT, PERFORMER, Attribute, Policy, PolicyFault
from leasehold.linking.records import Record
from leasehold.linking.samename import SAME_NAME, same_name
from leasehold.linking.scoring import Score, score
from leasehold.linking.solving import solve

__all__ = [
    "DEFAULT",
    "PERFORMER",
    "SAME_NAME",
    "Attribute",
    "Epoch",
    "Evidence",
    "Features",
    "Graph",
    "Part",
    "Policy",
    "PolicyFault",
    "Record",
    "Score",
    "Weights",
    "compare",
    "describe",
    "is_worth_telling",
    "learn",
    "prior",
    "same_name",
    "score",
    "share_an_id_or_address",
    "solve",
    "weigher",
]
