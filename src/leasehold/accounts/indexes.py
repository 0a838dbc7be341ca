"""What is indexed of the account pool in MongoDB."""

from pymongo import ASCENDING, DESCENDING, IndexModel

# Those that are used at every grant are partial: they hold what is free, or due, or leased, and nothing else.
INDEXES = [
    IndexModel([("organisation", 1), ("site", 1), ("username", 1)], name="name", unique=True),
    IndexModel(
        [
            ("organisation", ASCENDING),
            ("site", ASCENDING),
            ("priority", DESCENDING),
            ("last_leased_at", ASCENDING),
            ("_id", ASCENDING),
        ],
        name="free",
        partialFilterExpression={"free": True},
    ),
    # The reaper looks everywhere, a batch at its own sites; what is due at others is little, as the reaper comes by.
    IndexModel(
        [("organisation", 1), ("back_at", 1)], name="due", partialFilterExpression={"back_at": {"$type": "date"}}
    ),
    # Whatever else goes wrong, one lease is on one account.
    IndexModel([("lease.id", 1)], name="lease", unique=True, partialFilterExpression={"lease.id": {"$exists": True}}),
    IndexModel(
        [("organisation", 1), ("lease.owner", 1)],
        name="owner",
        partialFilterExpression={"lease.owner": {"$exists": True}},
    ),
    IndexModel(
        [("organisation", 1), ("lease.job_id", 1)],
        name="job",
        partialFilterExpression={"lease.job_id": {"$type": "string"}},
    ),
    IndexModel([("lease.once", 1)], name="once", partialFilterExpression={"lease.once": {"$exists": True}}),
    IndexModel([("ended.id", 1)], name="ended", partialFilterExpression={"ended.id": {"$exists": True}}),
    IndexModel([("ended.once", 1)], name="ended_once", partialFilterExpression={"ended.once": {"$exists": True}}),
    IndexModel([("organisation", 1)], name="pending", partialFilterExpression={"pending": True}),
    IndexModel([("secret.key_id", 1)], name="key"),
]
END_INDEXES = [
    IndexModel([("once", 1)], name="once", partialFilterExpression={"once": {"$exists": True}}),
    IndexModel([("organisation", 1), ("resource", 1), ("fence", -1)], name="resource"),
    IndexModel(
        [("organisation", 1), ("owner", 1), ("ended_at", 1)],
        name="lost",
        partialFilterExpression={"how": {"$in": ["expired", "revoked", "superseded"]}},
    ),
]
