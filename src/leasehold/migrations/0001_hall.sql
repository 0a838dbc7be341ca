-- Who works here and what they did: organisations, tokens, idempotency keys, the audit, and the two roles.

-- Roles belong to the whole server, so another leasehold database may have made them already.
DO $$
DECLARE
    wanted text;
    may_be boolean;
BEGIN
    FOREACH wanted IN ARRAY ARRAY['leasehold_app', 'leasehold_system'] LOOP
        IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = wanted) THEN
            BEGIN
                EXECUTE format('CREATE ROLE %I NOLOGIN NOSUPERUSER NOBYPASSRLS', wanted);
            EXCEPTION WHEN duplicate_object OR unique_violation THEN
                NULL; -- made a moment ago by somebody else
            END;
        END IF;
        -- Since PostgreSQL 16 whoever makes a role is its administrator but may not yet work as it.
        may_be := pg_has_role(
            current_user, wanted, CASE WHEN current_setting('server_version_num')::int < 160000 THEN 'MEMBER' ELSE 'SET' END);
        IF NOT may_be THEN
            EXECUTE format('GRANT %I TO CURRENT_USER', wanted);
        END IF;
    END LOOP;
END
$$;

-- What was applied, marked by each migration in its own transaction.
CREATE TABLE schema_mark (
    name text PRIMARY KEY,
    at timestamptz NOT NULL DEFAULT clock_timestamp()
);

-- One row that /readyz writes, to know that writing works.
CREATE TABLE readiness (
    single boolean PRIMARY KEY DEFAULT true CHECK (single),
    at timestamptz NOT NULL DEFAULT clock_timestamp()
);
INSERT INTO readiness DEFAULT VALUES;

-- Whom a transaction works for; NULL (no rows at all) when nobody said.
CREATE FUNCTION current_organisation() RETURNS uuid
    LANGUAGE sql STABLE PARALLEL SAFE
    RETURN nullif(current_setting('leasehold.organisation', true), '')::uuid;

CREATE TABLE organisation (
    id uuid PRIMARY KEY,
    slug text NOT NULL CONSTRAINT organisation_slug UNIQUE,
    created_at timestamptz NOT NULL DEFAULT clock_timestamp()
);

CREATE TABLE token (
    id uuid PRIMARY KEY,
    organisation uuid NOT NULL REFERENCES organisation,
    name text NOT NULL,
    -- SHA-256 of the token; the token itself is nowhere.
    hash bytea NOT NULL CONSTRAINT token_hash UNIQUE,
    -- The role it was made with, or NULL when its permissions were listed one by one.
    role text,
    permissions text[] NOT NULL,
    created_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    expires_at timestamptz,
    -- To the minute: writing it at every call would cost more than it tells.
    last_used_at timestamptz,
    revoked_at timestamptz
);
CREATE INDEX token_of_organisation ON token (organisation, id);

CREATE TABLE idempotency_key (
    organisation uuid NOT NULL REFERENCES organisation,
    token uuid NOT NULL REFERENCES token,
    route text NOT NULL,
    key text NOT NULL,
    -- Keyed with the caller's token, so that a body with a weak secret cannot be guessed from it.
    body_digest bytea NOT NULL,
    -- What the first request made; the repeat is answered from that row as it is now.
    resource text NOT NULL,
    at timestamptz NOT NULL DEFAULT clock_timestamp(),
    PRIMARY KEY (organisation, token, route, key)
);
CREATE INDEX idempotency_key_age ON idempotency_key (at);

CREATE TABLE audit_event (
    id uuid PRIMARY KEY,
    organisation uuid NOT NULL REFERENCES organisation,
    at timestamptz NOT NULL DEFAULT clock_timestamp(),
    -- The token that acted; NULL when it was the command line on the server itself.
    actor uuid,
    actor_name text NOT NULL,
    -- What happened, as `thing.happened`.
    action text NOT NULL,
    -- The id or slug of what it happened to.
    subject text NOT NULL,
    -- Before and after, never a secret.
    detail jsonb NOT NULL DEFAULT '{}',
    request_id text
);
CREATE INDEX audit_event_of_organisation ON audit_event (organisation, id);
CREATE INDEX audit_event_of_subject ON audit_event (organisation, subject, id);

CREATE FUNCTION refuse_change() RETURNS trigger
    LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION '% is append-only', TG_TABLE_NAME USING ERRCODE = 'insufficient_privilege';
END
$$;
CREATE TRIGGER audit_event_is_append_only
    BEFORE UPDATE OR DELETE OR TRUNCATE ON audit_event
    FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();

-- The second wall: whatever a query forgets, a transaction reaches the rows of its own organisation alone.
ALTER TABLE organisation ENABLE ROW LEVEL SECURITY;
ALTER TABLE organisation FORCE ROW LEVEL SECURITY;
CREATE POLICY own ON organisation TO leasehold_app USING (id = current_organisation());
CREATE POLICY across ON organisation TO leasehold_system USING (true);

ALTER TABLE token ENABLE ROW LEVEL SECURITY;
ALTER TABLE token FORCE ROW LEVEL SECURITY;
CREATE POLICY own ON token TO leasehold_app USING (organisation = current_organisation());
CREATE POLICY across ON token TO leasehold_system USING (true);

ALTER TABLE idempotency_key ENABLE ROW LEVEL SECURITY;
ALTER TABLE idempotency_key FORCE ROW LEVEL SECURITY;
CREATE POLICY own ON idempotency_key TO leasehold_app USING (organisation = current_organisation());
CREATE POLICY across ON idempotency_key TO leasehold_system USING (true);

ALTER TABLE audit_event ENABLE ROW LEVEL SECURITY;
ALTER TABLE audit_event FORCE ROW LEVEL SECURITY;
CREATE POLICY own ON audit_event TO leasehold_app USING (organisation = current_organisation());

GRANT SELECT ON schema_mark TO leasehold_app, leasehold_system;
GRANT SELECT, UPDATE ON readiness TO leasehold_system;
GRANT SELECT ON organisation TO leasehold_app;
GRANT SELECT, INSERT ON organisation TO leasehold_system;
GRANT SELECT, INSERT, UPDATE (revoked_at) ON token TO leasehold_app;
GRANT SELECT, UPDATE (last_used_at) ON token TO leasehold_system;
GRANT SELECT, INSERT, UPDATE, DELETE ON idempotency_key TO leasehold_app;
GRANT SELECT, DELETE ON idempotency_key TO leasehold_system;
GRANT SELECT, INSERT ON audit_event TO leasehold_app;

INSERT INTO schema_mark (name) VALUES ('0001_hall');
