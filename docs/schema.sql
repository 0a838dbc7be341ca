-- The whole schema, for readers; made from the migrations by `make generated`.

CREATE FUNCTION public.current_organisation() RETURNS uuid
    LANGUAGE sql STABLE PARALLEL SAFE
    RETURN (NULLIF(current_setting('leasehold.organisation'::text, true), ''::text))::uuid;

CREATE FUNCTION public.refuse_change() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
BEGIN
    RAISE EXCEPTION '% is append-only', TG_TABLE_NAME USING ERRCODE = 'insufficient_privilege';
END
$$;

CREATE TABLE public.audit_event (
    id uuid NOT NULL,
    organisation uuid NOT NULL,
    at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    actor uuid,
    actor_name text NOT NULL,
    action text NOT NULL,
    subject text NOT NULL,
    detail jsonb DEFAULT '{}'::jsonb NOT NULL,
    request_id text
);

ALTER TABLE ONLY public.audit_event FORCE ROW LEVEL SECURITY;

CREATE TABLE public.idempotency_key (
    organisation uuid NOT NULL,
    token uuid NOT NULL,
    route text NOT NULL,
    key text NOT NULL,
    body_digest bytea NOT NULL,
    resource text NOT NULL,
    at timestamp with time zone DEFAULT clock_timestamp() NOT NULL
);

ALTER TABLE ONLY public.idempotency_key FORCE ROW LEVEL SECURITY;

CREATE TABLE public.mount (
    id uuid NOT NULL,
    organisation uuid NOT NULL,
    site text NOT NULL,
    host text NOT NULL,
    scheme text NOT NULL,
    port integer,
    prefix text NOT NULL,
    subdomains text NOT NULL,
    fold text[] NOT NULL,
    since timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    trust text NOT NULL,
    current boolean NOT NULL,
    CONSTRAINT mount_check CHECK (((trust <> 'observed'::text) OR (NOT current))),
    CONSTRAINT mount_port_check CHECK (((port >= 1) AND (port <= 65535))),
    CONSTRAINT mount_prefix_check CHECK (((prefix ~~ '/%'::text) AND (prefix ~~ '%/'::text))),
    CONSTRAINT mount_scheme_check CHECK ((scheme = ANY (ARRAY['http'::text, 'https'::text]))),
    CONSTRAINT mount_subdomains_check CHECK ((subdomains = ANY (ARRAY['keep'::text, 'none'::text]))),
    CONSTRAINT mount_trust_check CHECK ((trust = ANY (ARRAY['observed'::text, 'urls'::text, 'credentials'::text])))
);

ALTER TABLE ONLY public.mount FORCE ROW LEVEL SECURITY;

CREATE TABLE public.move (
    id uuid NOT NULL,
    organisation uuid NOT NULL,
    site text NOT NULL,
    epoch integer NOT NULL,
    at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    from_address text NOT NULL,
    to_address text NOT NULL,
    trust text NOT NULL,
    actor uuid,
    actor_name text NOT NULL,
    reason text
);

ALTER TABLE ONLY public.move FORCE ROW LEVEL SECURITY;

CREATE TABLE public.organisation (
    id uuid NOT NULL,
    slug text NOT NULL,
    created_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL
);

ALTER TABLE ONLY public.organisation FORCE ROW LEVEL SECURITY;

CREATE TABLE public.readiness (
    single boolean DEFAULT true NOT NULL,
    at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    CONSTRAINT readiness_single_check CHECK (single)
);

CREATE TABLE public.registry_version (
    organisation uuid NOT NULL,
    version bigint NOT NULL
);

ALTER TABLE ONLY public.registry_version FORCE ROW LEVEL SECURITY;

CREATE TABLE public.schema_mark (
    name text NOT NULL,
    at timestamp with time zone DEFAULT clock_timestamp() NOT NULL
);

CREATE TABLE public.site (
    organisation uuid NOT NULL,
    slug text NOT NULL,
    name text NOT NULL,
    epoch integer DEFAULT 1 NOT NULL,
    paused_at timestamp with time zone,
    pause_reason text,
    max_concurrent_accounts integer,
    cooldown_seconds integer DEFAULT 0 NOT NULL,
    reclaim_delay_seconds integer DEFAULT 15 NOT NULL,
    quarantine_after_unclean integer DEFAULT 3 NOT NULL,
    breaker_percent integer DEFAULT 60 NOT NULL,
    breaker_min_accounts integer DEFAULT 5 NOT NULL,
    breaker_window_seconds integer DEFAULT 600 NOT NULL,
    seed_concurrency integer,
    min_interval_ms integer DEFAULT 0 NOT NULL,
    auth_markers text[] DEFAULT '{}'::text[] NOT NULL,
    created_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    updated_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    CONSTRAINT site_breaker_min_accounts_check CHECK ((breaker_min_accounts > 0)),
    CONSTRAINT site_breaker_percent_check CHECK (((breaker_percent >= 1) AND (breaker_percent <= 100))),
    CONSTRAINT site_breaker_window_seconds_check CHECK ((breaker_window_seconds > 0)),
    CONSTRAINT site_check CHECK (((paused_at IS NULL) = (pause_reason IS NULL))),
    CONSTRAINT site_cooldown_seconds_check CHECK ((cooldown_seconds >= 0)),
    CONSTRAINT site_max_concurrent_accounts_check CHECK ((max_concurrent_accounts > 0)),
    CONSTRAINT site_min_interval_ms_check CHECK ((min_interval_ms >= 0)),
    CONSTRAINT site_quarantine_after_unclean_check CHECK ((quarantine_after_unclean > 0)),
    CONSTRAINT site_reclaim_delay_seconds_check CHECK ((reclaim_delay_seconds >= 0)),
    CONSTRAINT site_seed_concurrency_check CHECK ((seed_concurrency > 0))
);

ALTER TABLE ONLY public.site FORCE ROW LEVEL SECURITY;

CREATE TABLE public.token (
    id uuid NOT NULL,
    organisation uuid NOT NULL,
    name text NOT NULL,
    hash bytea NOT NULL,
    role text,
    permissions text[] NOT NULL,
    created_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    expires_at timestamp with time zone,
    last_used_at timestamp with time zone,
    revoked_at timestamp with time zone
);

ALTER TABLE ONLY public.token FORCE ROW LEVEL SECURITY;

ALTER TABLE ONLY public.audit_event
    ADD CONSTRAINT audit_event_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.idempotency_key
    ADD CONSTRAINT idempotency_key_pkey PRIMARY KEY (organisation, token, route, key);

ALTER TABLE ONLY public.mount
    ADD CONSTRAINT mount_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.move
    ADD CONSTRAINT move_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.organisation
    ADD CONSTRAINT organisation_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.organisation
    ADD CONSTRAINT organisation_slug UNIQUE (slug);

ALTER TABLE ONLY public.readiness
    ADD CONSTRAINT readiness_pkey PRIMARY KEY (single);

ALTER TABLE ONLY public.registry_version
    ADD CONSTRAINT registry_version_pkey PRIMARY KEY (organisation);

ALTER TABLE ONLY public.schema_mark
    ADD CONSTRAINT schema_mark_pkey PRIMARY KEY (name);

ALTER TABLE ONLY public.site
    ADD CONSTRAINT site_key PRIMARY KEY (organisation, slug);

ALTER TABLE ONLY public.token
    ADD CONSTRAINT token_hash UNIQUE (hash);

ALTER TABLE ONLY public.token
    ADD CONSTRAINT token_pkey PRIMARY KEY (id);

CREATE INDEX audit_event_of_organisation ON public.audit_event USING btree (organisation, id);

CREATE INDEX audit_event_of_subject ON public.audit_event USING btree (organisation, subject, id);

CREATE INDEX idempotency_key_age ON public.idempotency_key USING btree (at);

CREATE UNIQUE INDEX mount_address ON public.mount USING btree (organisation, host, COALESCE(port, 0), prefix) WHERE current;

CREATE INDEX mount_by_host ON public.mount USING btree (organisation, host);

CREATE INDEX mount_of_site ON public.mount USING btree (organisation, site, since);

CREATE UNIQUE INDEX mount_one_current ON public.mount USING btree (organisation, site) WHERE current;

CREATE INDEX move_of_site ON public.move USING btree (organisation, site, id);

CREATE INDEX token_of_organisation ON public.token USING btree (organisation, id);

CREATE TRIGGER audit_event_is_append_only BEFORE DELETE OR UPDATE OR TRUNCATE ON public.audit_event FOR EACH STATEMENT EXECUTE FUNCTION public.refuse_change();

ALTER TABLE ONLY public.audit_event
    ADD CONSTRAINT audit_event_organisation_fkey FOREIGN KEY (organisation) REFERENCES public.organisation(id);

ALTER TABLE ONLY public.idempotency_key
    ADD CONSTRAINT idempotency_key_organisation_fkey FOREIGN KEY (organisation) REFERENCES public.organisation(id);

ALTER TABLE ONLY public.idempotency_key
    ADD CONSTRAINT idempotency_key_token_fkey FOREIGN KEY (token) REFERENCES public.token(id);

ALTER TABLE ONLY public.mount
    ADD CONSTRAINT mount_organisation_site_fkey FOREIGN KEY (organisation, site) REFERENCES public.site(organisation, slug) ON DELETE CASCADE;

ALTER TABLE ONLY public.move
    ADD CONSTRAINT move_organisation_site_fkey FOREIGN KEY (organisation, site) REFERENCES public.site(organisation, slug) ON DELETE CASCADE;

ALTER TABLE ONLY public.registry_version
    ADD CONSTRAINT registry_version_organisation_fkey FOREIGN KEY (organisation) REFERENCES public.organisation(id);

ALTER TABLE ONLY public.site
    ADD CONSTRAINT site_organisation_fkey FOREIGN KEY (organisation) REFERENCES public.organisation(id);

ALTER TABLE ONLY public.token
    ADD CONSTRAINT token_organisation_fkey FOREIGN KEY (organisation) REFERENCES public.organisation(id);

CREATE POLICY across ON public.idempotency_key TO leasehold_system USING (true);

CREATE POLICY across ON public.organisation TO leasehold_system USING (true);

CREATE POLICY across ON public.token TO leasehold_system USING (true);

ALTER TABLE public.audit_event ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.idempotency_key ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.mount ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.move ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.organisation ENABLE ROW LEVEL SECURITY;

CREATE POLICY own ON public.audit_event TO leasehold_app USING ((organisation = public.current_organisation()));

CREATE POLICY own ON public.idempotency_key TO leasehold_app USING ((organisation = public.current_organisation()));

CREATE POLICY own ON public.mount TO leasehold_app USING ((organisation = public.current_organisation()));

CREATE POLICY own ON public.move TO leasehold_app USING ((organisation = public.current_organisation()));

CREATE POLICY own ON public.organisation TO leasehold_app USING ((id = public.current_organisation()));

CREATE POLICY own ON public.registry_version TO leasehold_app USING ((organisation = public.current_organisation()));

CREATE POLICY own ON public.site TO leasehold_app USING ((organisation = public.current_organisation()));

CREATE POLICY own ON public.token TO leasehold_app USING ((organisation = public.current_organisation()));

ALTER TABLE public.registry_version ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.site ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.token ENABLE ROW LEVEL SECURITY;

GRANT SELECT,INSERT ON TABLE public.audit_event TO leasehold_app;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.idempotency_key TO leasehold_app;
GRANT SELECT,DELETE ON TABLE public.idempotency_key TO leasehold_system;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.mount TO leasehold_app;

GRANT SELECT,INSERT ON TABLE public.move TO leasehold_app;

GRANT SELECT ON TABLE public.organisation TO leasehold_app;
GRANT SELECT,INSERT ON TABLE public.organisation TO leasehold_system;

GRANT SELECT,UPDATE ON TABLE public.readiness TO leasehold_system;

GRANT SELECT,INSERT,UPDATE ON TABLE public.registry_version TO leasehold_app;

GRANT SELECT ON TABLE public.schema_mark TO leasehold_app;
GRANT SELECT ON TABLE public.schema_mark TO leasehold_system;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.site TO leasehold_app;

GRANT SELECT,INSERT ON TABLE public.token TO leasehold_app;
GRANT SELECT ON TABLE public.token TO leasehold_system;

GRANT UPDATE(last_used_at) ON TABLE public.token TO leasehold_system;

GRANT UPDATE(revoked_at) ON TABLE public.token TO leasehold_app;
