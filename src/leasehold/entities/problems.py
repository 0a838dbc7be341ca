"""Why something about an entity is refused."""

from leasehold.problems import Problem


class EntityUnknown(Problem):
    """No entity of your organisation has this id. `GET /v2/entities` lists them."""

    status, title = 404, "Entity unknown"


class RecordUnknown(Problem):
    """No record of your organisation has this id, or the two are of different kinds. An entity lists its records."""

    status, title = 404, "Record unknown"


class BatchUnknown(Problem):
    """No batch of records of your organisation has this id; what was written is forgotten after seven days."""

    status, title = 404, "Batch unknown"


class ReviewUnknown(Problem):
    """There is no such question: it was answered, or its records changed. `GET /v2/entities/reviews` lists them."""

    status, title = 404, "Review unknown"


class EpochUnknown(Problem):
    """No such set of weights of this kind, or it cannot be moved to now. `GET /v2/entities/epochs` lists them."""

    status, title = 404, "Epoch unknown"


class CannotMerge(Problem):
    """These entities cannot be made one: they are the same, or of different kinds."""

    status, title = 409, "Cannot merge"


class CannotSplit(Problem):
    """These records cannot be split off: not all are in the entity, or none would stay."""

    status, title = 409, "Cannot split"


class QueueFull(Problem):
    """More records wait to be written than may. Send the same again after `Retry-After`; nothing of it was taken."""

    status, title = 429, "Queue full"


def unknown_entity() -> EntityUnknown:
    return EntityUnknown("No entity of your organisation has this id.")
