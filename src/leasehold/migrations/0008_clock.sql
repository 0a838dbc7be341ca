-- Jumps ahead of a clock that leases run by, each seen to once.

-- Of the whole house: a clock belongs to no organisation.
CREATE TABLE clock_jump (
    -- In the order they were seen to. Times would not do: clocks that jump may come to the same time twice.
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    -- Whose clock it was.
    store text NOT NULL CHECK (store IN ('postgres', 'mongo')),
    -- By that clock, after it had jumped.
    noticed_at timestamptz NOT NULL,
    -- How far it jumped, at the most.
    seconds double precision NOT NULL,
    -- How many leases were given new time.
    leases integer NOT NULL
);

ALTER TABLE clock_jump ENABLE ROW LEVEL SECURITY;
ALTER TABLE clock_jump FORCE ROW LEVEL SECURITY;
CREATE POLICY seen ON clock_jump FOR SELECT TO leasehold_app USING (true);
CREATE POLICY across ON clock_jump TO leasehold_system USING (true);
-- To give new time to whatever was held, whoever's it is.
CREATE POLICY across ON lease TO leasehold_system USING (true);

GRANT SELECT ON clock_jump TO leasehold_app;
GRANT SELECT, INSERT ON clock_jump TO leasehold_system;
GRANT SELECT (id, ttl_seconds, expires_at, moved), UPDATE (expires_at) ON lease TO leasehold_system;

INSERT INTO schema_mark (name) VALUES ('0008_clock');
