-- Sites: where they live, where they lived, and how gently they are to be treated.

CREATE TABLE site (
    organisation uuid NOT NULL REFERENCES organisation,
    slug text NOT NULL,
    name text NOT NULL,
    -- Grows by one with every move, so that whoever holds an older address can tell.
    epoch integer NOT NULL DEFAULT 1,
    -- Set while nobody may be given anything of this site.
    paused_at timestamptz,
    pause_reason text,
    -- The policy, a column each, because leases are granted by comparing with them.
    max_concurrent_accounts integer CHECK (max_concurrent_accounts > 0),
    cooldown_seconds integer NOT NULL DEFAULT 0 CHECK (cooldown_seconds >= 0),
    reclaim_delay_seconds integer NOT NULL DEFAULT 15 CHECK (reclaim_delay_seconds >= 0),
    quarantine_after_unclean integer NOT NULL DEFAULT 3 CHECK (quarantine_after_unclean > 0),
    breaker_percent integer NOT NULL DEFAULT 60 CHECK (breaker_percent BETWEEN 1 AND 100),
    breaker_min_accounts integer NOT NULL DEFAULT 5 CHECK (breaker_min_accounts > 0),
    breaker_window_seconds integer NOT NULL DEFAULT 600 CHECK (breaker_window_seconds > 0),
    seed_concurrency integer CHECK (seed_concurrency > 0),
    min_interval_ms integer NOT NULL DEFAULT 0 CHECK (min_interval_ms >= 0),
    auth_markers text[] NOT NULL DEFAULT '{}',
    created_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    updated_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    CONSTRAINT site_key PRIMARY KEY (organisation, slug),
    CHECK ((paused_at IS NULL) = (pause_reason IS NULL))
);

CREATE TABLE mount (
    id uuid PRIMARY KEY,
    organisation uuid NOT NULL,
    site text NOT NULL,
    host text NOT NULL,
    scheme text NOT NULL CHECK (scheme IN ('http', 'https')),
    port integer CHECK (port BETWEEN 1 AND 65535),
    -- Where on the host the site begins: starts and ends with a slash.
    prefix text NOT NULL CHECK (prefix LIKE '/%' AND prefix LIKE '%/'),
    subdomains text NOT NULL CHECK (subdomains IN ('keep', 'none')),
    -- Subdomains that mean the bare host.
    fold text[] NOT NULL,
    since timestamptz NOT NULL DEFAULT clock_timestamp(),
    trust text NOT NULL CHECK (trust IN ('observed', 'urls', 'credentials')),
    -- The site lives here now: its last trusted mount.
    current boolean NOT NULL,
    CHECK (trust <> 'observed' OR NOT current),
    FOREIGN KEY (organisation, site) REFERENCES site (organisation, slug) ON DELETE CASCADE
);
CREATE UNIQUE INDEX mount_one_current ON mount (organisation, site) WHERE current;
-- One address belongs to one site at a time.
CREATE UNIQUE INDEX mount_address ON mount (organisation, host, coalesce(port, 0), prefix) WHERE current;
CREATE INDEX mount_by_host ON mount (organisation, host);
CREATE INDEX mount_of_site ON mount (organisation, site, since);

CREATE TABLE move (
    id uuid PRIMARY KEY,
    organisation uuid NOT NULL,
    site text NOT NULL,
    -- The epoch of the site after it; a proposal leaves it as it was.
    epoch integer NOT NULL,
    at timestamptz NOT NULL DEFAULT clock_timestamp(),
    from_address text NOT NULL,
    to_address text NOT NULL,
    trust text NOT NULL,
    actor uuid,
    actor_name text NOT NULL,
    reason text,
    FOREIGN KEY (organisation, site) REFERENCES site (organisation, slug) ON DELETE CASCADE
);
CREATE INDEX move_of_site ON move (organisation, site, id);

-- Raised by every change of an address, so that a process knows when its index of addresses is old. The row is also
-- the lock under which addresses change: two claims on one address never pass each other.
CREATE TABLE registry_version (
    organisation uuid PRIMARY KEY REFERENCES organisation,
    version bigint NOT NULL
);

ALTER TABLE site ENABLE ROW LEVEL SECURITY;
ALTER TABLE site FORCE ROW LEVEL SECURITY;
CREATE POLICY own ON site TO leasehold_app USING (organisation = current_organisation());
ALTER TABLE mount ENABLE ROW LEVEL SECURITY;
ALTER TABLE mount FORCE ROW LEVEL SECURITY;
CREATE POLICY own ON mount TO leasehold_app USING (organisation = current_organisation());
ALTER TABLE move ENABLE ROW LEVEL SECURITY;
ALTER TABLE move FORCE ROW LEVEL SECURITY;
CREATE POLICY own ON move TO leasehold_app USING (organisation = current_organisation());

ALTER TABLE registry_version ENABLE ROW LEVEL SECURITY;
ALTER TABLE registry_version FORCE ROW LEVEL SECURITY;
CREATE POLICY own ON registry_version TO leasehold_app USING (organisation = current_organisation());

GRANT SELECT, INSERT, UPDATE ON registry_version TO leasehold_app;
GRANT SELECT, INSERT, UPDATE, DELETE ON site TO leasehold_app;
GRANT SELECT, INSERT, UPDATE, DELETE ON mount TO leasehold_app;
GRANT SELECT, INSERT ON move TO leasehold_app;

INSERT INTO schema_mark (name) VALUES ('0002_sites');
