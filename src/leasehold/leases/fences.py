"""What a fence is made of: the era of the database, and how often a thing was granted. No I/O.

Whoever keeps something by fence believes the higher one. A restored database has forgotten grants that its clients
remember, so a restore raises the era, and with it every fence there is and every one there will be.
"""

# A thing that is granted every second comes to this many grants in 17 years. What is left of the 53 bits that every
# reader of JSON gets right is for the era, which grows by one a minute at the most.
COUNTER_BITS = 29
FIRST_ERA = 1


def first_of(era: int) -> int:
    """The fence of what was never granted, in this era."""
    return (era - FIRST_ERA) << COUNTER_BITS


def grants_of(fence: int) -> int:
    """How often a thing with this fence was granted."""
    return fence & ((1 << COUNTER_BITS) - 1)
