-- Browser sessions of accounts: which of what is kept is the session, and what leases started from.

ALTER TABLE account
    -- Grows with every change of what is kept, so that of two at once one starts again.
    ADD COLUMN session_rev integer NOT NULL DEFAULT 0,
    -- Grows with every change that can be seen.
    ADD COLUMN session_version integer NOT NULL DEFAULT 0,
    ADD COLUMN has_session boolean NOT NULL DEFAULT false;

-- What a session was at one time: its whole history, sealed. The newest ones are kept.
CREATE TABLE session_version (
    account uuid NOT NULL REFERENCES account ON DELETE CASCADE,
    organisation uuid NOT NULL,
    rev integer NOT NULL,
    version integer NOT NULL,
    key_id text NOT NULL,
    sealed bytea NOT NULL,
    -- Counts and names, never values.
    facts jsonb NOT NULL,
    -- Who made it, how, and what that did.
    made jsonb NOT NULL,
    made_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    PRIMARY KEY (account, rev)
);
ALTER TABLE session_version ALTER COLUMN sealed SET STORAGE EXTERNAL;  -- what is encrypted does not get smaller
CREATE INDEX session_version_key ON session_version (organisation, key_id);

-- What the context of a lease holds: what it was handed out, or what it uploaded last. One for each lease.
CREATE TABLE session_base (
    lease uuid PRIMARY KEY,
    organisation uuid NOT NULL,
    account uuid NOT NULL REFERENCES account ON DELETE CASCADE,
    version integer NOT NULL,
    -- When and with what it was handed out, to make it again.
    note jsonb NOT NULL,
    -- The state it uploaded itself, sealed; NULL when it was handed out.
    key_id text,
    sealed bytea,
    at timestamptz NOT NULL DEFAULT clock_timestamp(),
    CHECK ((key_id IS NULL) = (sealed IS NULL))
);
ALTER TABLE session_base ALTER COLUMN sealed SET STORAGE EXTERNAL;
CREATE INDEX session_base_account ON session_base (account);
CREATE INDEX session_base_key ON session_base (organisation, key_id) WHERE key_id IS NOT NULL;

CREATE OR REPLACE VIEW account_now WITH (security_invoker = true) AS
SELECT organisation, id, site, username, state, standing, blocked_reason, labels, priority,
       CASE WHEN state = 'cooling' THEN cooling_until END AS cooling_until,
       consecutive_failures, unclean_ends, on_probation, needs_login,
       nullif(last_leased_at, '-infinity') AS last_leased_at, last_outcome, last_outcome_at, created_at, updated_at,
       CASE WHEN state = 'using' THEN owner END AS holder,
       CASE WHEN state = 'using' THEN lease END AS lease_id,
       CASE WHEN state = 'using' THEN expires_at END AS expires_at,
       has_session
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

ALTER TABLE session_version ENABLE ROW LEVEL SECURITY;
ALTER TABLE session_version FORCE ROW LEVEL SECURITY;
CREATE POLICY own ON session_version TO leasehold_app USING (organisation = current_organisation());
ALTER TABLE session_base ENABLE ROW LEVEL SECURITY;
ALTER TABLE session_base FORCE ROW LEVEL SECURITY;
CREATE POLICY own ON session_base TO leasehold_app USING (organisation = current_organisation());
GRANT SELECT, INSERT, UPDATE, DELETE ON session_version, session_base TO leasehold_app;

INSERT INTO schema_mark (name) VALUES ('0007_sessions');
