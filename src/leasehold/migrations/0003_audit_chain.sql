-- The chain over the audit: where each event stands in it, and the seals that cover them.

ALTER TABLE audit_event
    -- The transaction that wrote it. Events are sealed in this order, once every earlier transaction has ended.
    ADD COLUMN xact xid8 NOT NULL DEFAULT pg_current_xact_id(),
    -- Transactions are counted anew in another cluster: a restore into one raises this default before anything is
    -- written, so that what is written there comes after what was brought along.
    ADD COLUMN era integer NOT NULL DEFAULT 1;
CREATE INDEX audit_event_in_order ON audit_event (organisation, era, xact, id);

-- The era that is written now: the default above, so that it is said in one place.
CREATE FUNCTION audit_era() RETURNS integer
    LANGUAGE sql STABLE PARALLEL SAFE
    RETURN (SELECT pg_get_expr(adbin, adrelid)::integer
              FROM pg_attrdef
              JOIN pg_attribute ON attrelid = adrelid AND attnum = adnum
             WHERE adrelid = 'audit_event'::regclass AND attname = 'era');

CREATE TABLE audit_seal (
    organisation uuid NOT NULL REFERENCES organisation,
    -- 1, 2, 3 …: a gap is a seal that was taken out.
    seq bigint NOT NULL,
    -- The last event it covers; the first is the one after the seal before.
    era integer NOT NULL,
    xact xid8 NOT NULL,
    event uuid NOT NULL,
    -- How many it covers.
    events integer NOT NULL,
    at timestamptz NOT NULL,
    -- SHA-256 over the digest of the seal before, the events, and the columns above.
    digest bytea NOT NULL,
    PRIMARY KEY (organisation, seq)
);
CREATE TRIGGER audit_seal_is_append_only
    BEFORE UPDATE OR DELETE OR TRUNCATE ON audit_seal
    FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();

ALTER TABLE audit_seal ENABLE ROW LEVEL SECURITY;
ALTER TABLE audit_seal FORCE ROW LEVEL SECURITY;
CREATE POLICY own ON audit_seal TO leasehold_app USING (organisation = current_organisation());

GRANT SELECT, INSERT ON audit_seal TO leasehold_app;

INSERT INTO schema_mark (name) VALUES ('0003_audit_chain');
