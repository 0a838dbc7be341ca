-- Leases, the accounts that are held on them, and those who wait for one.

-- Which store the account and session pools are in. One row; `migrate-pools` flips it.
CREATE TABLE pool (
    single boolean PRIMARY KEY DEFAULT true CHECK (single),
    store text NOT NULL CHECK (store IN ('postgres', 'mongo')),
    -- Set while accounts are on their way to another store: nothing is granted meanwhile.
    moving_to text CHECK (moving_to IN ('postgres', 'mongo'))
);
INSERT INTO pool (store) VALUES ('postgres');

ALTER TABLE site
    -- Rest of a blocked account before it is tried again on probation; NULL: only an operator brings it back.
    ADD COLUMN probation_after_seconds integer CHECK (probation_after_seconds > 0);

-- What is held right now, of every kind. `expires_at` is in no index, so that a heartbeat touches one page.
CREATE TABLE lease (
    id uuid PRIMARY KEY,
    organisation uuid NOT NULL,
    kind text NOT NULL,
    resource uuid NOT NULL,
    site text,
    owner text NOT NULL,
    -- The token it was granted to; NULL when the server itself holds it.
    token uuid,
    job_id text,
    fence bigint NOT NULL,
    ttl_seconds integer NOT NULL,
    acquired_at timestamptz NOT NULL,
    expires_at timestamptz NOT NULL,
    -- Handed to the other store together with its resource; nothing here may renew or end it any more.
    moved boolean NOT NULL DEFAULT false
) WITH (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.02, autovacuum_analyze_scale_factor = 0.02);
-- Whatever else goes wrong, one resource is not held twice.
CREATE UNIQUE INDEX lease_of_resource ON lease (resource);
CREATE INDEX lease_of_owner ON lease (organisation, owner);
CREATE INDEX lease_of_site ON lease (organisation, site, kind);

-- How leases ended; written in the statement that ends them, never changed.
CREATE TABLE lease_end (
    id uuid PRIMARY KEY,
    organisation uuid NOT NULL,
    kind text NOT NULL,
    resource uuid NOT NULL,
    site text,
    owner text NOT NULL,
    token uuid,
    job_id text,
    fence bigint NOT NULL,
    acquired_at timestamptz NOT NULL,
    expires_at timestamptz NOT NULL,
    ended_at timestamptz NOT NULL,
    how text NOT NULL CHECK (how IN ('released', 'expired', 'revoked', 'superseded')),
    -- What its holder said of the work; NULL when it said nothing.
    outcome text,
    reason text
);
CREATE INDEX lease_end_of_resource ON lease_end (organisation, resource, fence);
CREATE INDEX lease_end_lost ON lease_end (organisation, owner, ended_at) WHERE how <> 'released';

CREATE TABLE account (
    id uuid PRIMARY KEY,
    organisation uuid NOT NULL,
    site text NOT NULL,
    username text NOT NULL,
    -- What operators and outcomes say of it. Whether it is in use or cooling is not said here but follows.
    standing text NOT NULL DEFAULT 'active' CHECK (standing IN ('active', 'inactive', 'blocked')),
    blocked_reason text,
    labels jsonb NOT NULL DEFAULT '{}',
    priority integer NOT NULL DEFAULT 0,
    -- The rung of the cool-down ladder: a failure goes up one, a success down one.
    consecutive_failures integer NOT NULL DEFAULT 0,
    -- Leases in a row that ran out instead of being given back.
    unclean_ends integer NOT NULL DEFAULT 0,
    -- Came back from being blocked: one more bad end and it is blocked again.
    on_probation boolean NOT NULL DEFAULT false,
    needs_login boolean NOT NULL DEFAULT false,
    -- Set while it rests; emptied when it is put back among the free ones.
    cooling_until timestamptz,
    -- By when it was leased, not released: else the account of a zombie would be the longest idle.
    last_leased_at timestamptz NOT NULL DEFAULT '-infinity',
    last_outcome text,
    last_outcome_at timestamptz,
    -- How it stood before its present bad streak, so that a fault of the site's can be forgiven.
    before_penalty jsonb,
    -- The number of the last grant.
    fence bigint NOT NULL DEFAULT 0,
    -- Grants before the books of this database begin.
    fence_base bigint NOT NULL DEFAULT 0,
    -- Who holds it: a row of `lease`, live or run out and not settled yet.
    lease uuid,
    -- When to look at it again: the earliest end of its lease, the end of its rest, the start of its probation.
    back_at timestamptz,
    -- Handed to the other store; this row is history.
    moved boolean NOT NULL DEFAULT false,
    created_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    updated_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    CONSTRAINT account_name UNIQUE (organisation, site, username),
    CHECK ((standing = 'blocked') = (blocked_reason IS NOT NULL)),
    FOREIGN KEY (organisation, site) REFERENCES site (organisation, slug)
) WITH (fillfactor = 80, autovacuum_vacuum_scale_factor = 0.02, autovacuum_analyze_scale_factor = 0.02);
-- The free ones, in the order they are given out.
CREATE INDEX account_free ON account (organisation, site, priority DESC, last_leased_at, id)
    WHERE standing = 'active' AND lease IS NULL AND cooling_until IS NULL AND NOT moved;
CREATE INDEX account_due ON account (organisation, site, back_at) WHERE back_at IS NOT NULL AND NOT moved;
CREATE INDEX account_failing ON account (organisation, site, last_outcome_at) WHERE before_penalty IS NOT NULL;

-- Beside the account, so that a grant does not copy it.
CREATE TABLE account_secret (
    account uuid PRIMARY KEY REFERENCES account ON DELETE CASCADE,
    organisation uuid NOT NULL,
    -- Grows with every change; part of what the seal binds.
    version integer NOT NULL DEFAULT 1,
    key_id text NOT NULL,
    sealed bytea NOT NULL
);
CREATE INDEX account_secret_key ON account_secret (organisation, key_id);

-- Who waits for an account, in which order, and in which process. Unlogged: after a crash nobody waits.
CREATE UNLOGGED TABLE waiter (
    id uuid PRIMARY KEY,
    organisation uuid NOT NULL,
    process uuid NOT NULL,
    site text NOT NULL,
    priority integer NOT NULL,
    wanted integer NOT NULL,
    labels jsonb NOT NULL,
    account uuid,
    since timestamptz NOT NULL DEFAULT clock_timestamp(),
    -- A process that no longer says so has died, and its waiters with it.
    refreshed_at timestamptz NOT NULL DEFAULT clock_timestamp()
);
CREATE INDEX waiter_at_site ON waiter (organisation, site, priority DESC, since);

-- An account as callers see it: with what follows from its lease and the clock.
CREATE VIEW account_now WITH (security_invoker = true) AS
SELECT organisation, id, site, username, state, standing, blocked_reason, labels, priority,
       CASE WHEN state = 'cooling' THEN cooling_until END AS cooling_until,
       consecutive_failures, unclean_ends, on_probation, needs_login,
       nullif(last_leased_at, '-infinity') AS last_leased_at, last_outcome, last_outcome_at, created_at, updated_at,
       CASE WHEN state = 'using' THEN owner END AS holder,
       CASE WHEN state = 'using' THEN lease END AS lease_id,
       CASE WHEN state = 'using' THEN expires_at END AS expires_at
  FROM (SELECT a.*, l.owner, l.expires_at,
               CASE
                   WHEN l.expires_at > clock_timestamp() THEN 'using'
                   WHEN a.standing <> 'active' THEN a.standing
                   WHEN a.cooling_until > clock_timestamp() THEN 'cooling'
                   ELSE 'active'
               END AS state
          FROM account a
          LEFT JOIN lease l ON l.id = a.lease
         WHERE NOT a.moved) here;

ALTER TABLE lease ENABLE ROW LEVEL SECURITY;
ALTER TABLE lease FORCE ROW LEVEL SECURITY;
CREATE POLICY own ON lease TO leasehold_app USING (organisation = current_organisation());
ALTER TABLE lease_end ENABLE ROW LEVEL SECURITY;
ALTER TABLE lease_end FORCE ROW LEVEL SECURITY;
CREATE POLICY own ON lease_end TO leasehold_app USING (organisation = current_organisation());
ALTER TABLE account ENABLE ROW LEVEL SECURITY;
ALTER TABLE account FORCE ROW LEVEL SECURITY;
CREATE POLICY own ON account TO leasehold_app USING (organisation = current_organisation());
-- To know whether there is any: an unused pool may begin in either store.
CREATE POLICY across ON account TO leasehold_system USING (true);
ALTER TABLE account_secret ENABLE ROW LEVEL SECURITY;
ALTER TABLE account_secret FORCE ROW LEVEL SECURITY;
CREATE POLICY own ON account_secret TO leasehold_app USING (organisation = current_organisation());
ALTER TABLE waiter ENABLE ROW LEVEL SECURITY;
ALTER TABLE waiter FORCE ROW LEVEL SECURITY;
CREATE POLICY own ON waiter TO leasehold_app USING (organisation = current_organisation());
CREATE POLICY across ON waiter TO leasehold_system USING (true);

-- To hold it still: whoever makes an account locks the row. There is nothing in this column to change.
GRANT SELECT, UPDATE (single) ON pool TO leasehold_app;
GRANT SELECT, UPDATE ON pool TO leasehold_system;
GRANT SELECT, INSERT, UPDATE, DELETE ON lease TO leasehold_app;
GRANT SELECT, INSERT ON lease_end TO leasehold_app;
GRANT SELECT, INSERT, UPDATE, DELETE ON account TO leasehold_app;
GRANT SELECT (id) ON account TO leasehold_system;
GRANT SELECT ON account_now TO leasehold_app;
GRANT SELECT, INSERT, UPDATE, DELETE ON account_secret TO leasehold_app;
GRANT SELECT, INSERT, UPDATE, DELETE ON waiter TO leasehold_app;
GRANT SELECT, UPDATE, DELETE ON waiter TO leasehold_system;

ALTER TABLE idempotency_key
    -- How many repeats were told what is under it and did not hang up: it is theirs, whatever the first who asked did.
    ADD COLUMN recalled integer NOT NULL DEFAULT 0;

-- Every grant writes an event; looking its organisation up each time is what that costs most. Row security sees to it that
-- the organisation is the one the transaction works for.
ALTER TABLE audit_event DROP CONSTRAINT audit_event_organisation_fkey;

INSERT INTO schema_mark (name) VALUES ('0004_leases');
