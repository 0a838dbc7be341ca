-- name: guard
-- Grants at a site with a cap go one batch after the other: `count(*) < cap` alone is overtaken under load.
SELECT pg_advisory_xact_lock(hashtextextended(%(organisation)s::uuid || ' ' || capped.slug, 1))
  FROM (SELECT slug
          FROM site
         WHERE organisation = %(organisation)s::uuid AND slug = ANY(%(sites)s::text[])
           AND max_concurrent_accounts IS NOT NULL
         ORDER BY slug
        OFFSET 0) capped;

-- name: grounds
-- What there is to know of these sites before anything of theirs is handed out. A lease that looks run out counts until it
-- is settled: somebody may be about to commit its renewal.
SELECT s.slug, s.paused_at IS NOT NULL AS is_paused, s.pause_reason, s.max_concurrent_accounts,
       s.cooldown_seconds, s.reclaim_delay_seconds, s.quarantine_after_unclean, s.probation_after_seconds,
       s.breaker_percent, s.breaker_min_accounts, s.breaker_window_seconds,
       CASE WHEN s.max_concurrent_accounts IS NOT NULL THEN (
           SELECT count(*)
             FROM lease l
            WHERE l.organisation = %(organisation)s::uuid AND l.site = s.slug AND l.kind = 'account' AND NOT l.moved)
       ELSE 0 END AS live
  FROM site s
 WHERE s.organisation = %(organisation)s::uuid AND s.slug = ANY(%(sites)s::text[]);

-- name: store
SELECT store, moving_to FROM pool;

-- name: era
-- Raised by every restore.
SELECT audit_era();

-- name: hold_store
-- As `store`, and it stays so until we are done.
SELECT store, moving_to FROM pool FOR SHARE;

-- name: adopt
-- Across organisations: pools that were never used begin in the store they are asked for in.
UPDATE pool
   SET store = %(store)s::text
 WHERE moving_to IS NULL AND store = 'postgres' AND NOT EXISTS (SELECT id FROM account);

-- name: sites
SELECT slug FROM site WHERE organisation = %(organisation)s::uuid;

-- name: hold_sites
-- These sites are there and are not deleted until we are done; for a store where no foreign key says so.
SELECT slug
  FROM site
 WHERE organisation = %(organisation)s::uuid AND slug = ANY(%(sites)s::text[])
   FOR KEY SHARE;

-- name: held
-- The accounts behind these leases, kept from others until we are done. In the order of ids, so that two batches never
-- wait for each other in a circle.
SELECT l.id AS lease, a.id, a.site, a.standing, a.blocked_reason, a.consecutive_failures, a.unclean_ends,
       a.on_probation, a.needs_login, a.before_penalty, l.expires_at <= clock_timestamp() AS ran_out
  FROM lease l
  JOIN account a ON a.id = l.resource AND a.organisation = %(organisation)s::uuid
 WHERE l.organisation = %(organisation)s::uuid AND l.id = ANY(%(leases)s::uuid[]) AND NOT a.moved
 ORDER BY a.id
   FOR UPDATE OF a;

-- name: due
-- Accounts to look at again: their lease may have run out, or their rest is over. Nobody waits for anybody here. The time
-- of the statement, not of the clock: only that can be looked up in the index, and a little too early is harmless.
SELECT a.id, a.site, a.standing, a.blocked_reason, a.consecutive_failures, a.unclean_ends, a.on_probation,
       a.needs_login, a.before_penalty, a.lease, l.expires_at <= clock_timestamp() AS ran_out
  FROM unnest(%(sites)s::text[]) AS wanted (site)
 CROSS JOIN LATERAL (
        SELECT *
          FROM account
         WHERE organisation = %(organisation)s::uuid AND site = wanted.site
           AND back_at <= statement_timestamp() AND back_at IS NOT NULL AND NOT moved
         ORDER BY back_at
         LIMIT %(limit)s::int
           FOR UPDATE SKIP LOCKED) a
  LEFT JOIN lease l ON l.id = a.lease AND l.organisation = %(organisation)s::uuid;

-- name: settle
-- Ends leases, books how, and leaves each account as its verdict says. The lease and its time are in the WHERE: a
-- release and a revocation need a live lease, an expiry one that ran out.
WITH given AS (
    SELECT *
      FROM unnest(%(leases)s::uuid[], %(hows)s::text[], %(outcomes)s::text[], %(reasons)s::text[],
                  %(standings)s::text[], %(blocked_reasons)s::text[], %(failures)s::int[], %(unclean)s::int[],
                  %(probations)s::boolean[], %(logins)s::boolean[], %(penalties)s::text[], %(rests)s::int[])
        AS g (lease, how, outcome, reason, standing, blocked_reason, failures, unclean, probation, login, penalty, rest)
), ended AS (
    DELETE FROM lease l
     USING given g
     WHERE l.organisation = %(organisation)s::uuid AND l.id = g.lease
       AND CASE g.how WHEN 'expired' THEN l.expires_at <= clock_timestamp() ELSE l.expires_at > clock_timestamp() END
    RETURNING l.*, CASE g.how WHEN 'expired' THEN l.expires_at ELSE clock_timestamp() END AS ended_at
), booked AS (
    INSERT INTO lease_end (id, organisation, kind, resource, site, owner, token, job_id, fence, acquired_at,
                           expires_at, ended_at, how, outcome, reason)
    SELECT e.id, e.organisation, e.kind, e.resource, e.site, e.owner, e.token, e.job_id, e.fence, e.acquired_at,
           e.expires_at, e.ended_at, g.how, g.outcome, g.reason
      FROM ended e
      JOIN given g ON g.lease = e.id
), rested AS (
    SELECT e.id, e.resource, nullif(e.ended_at + g.rest * interval '1 second', e.ended_at) AS until
      FROM ended e
      JOIN given g ON g.lease = e.id
)
UPDATE account a
   SET lease = NULL,
       standing = g.standing, blocked_reason = g.blocked_reason, consecutive_failures = g.failures,
       unclean_ends = g.unclean, on_probation = g.probation, needs_login = g.login, before_penalty = g.penalty::jsonb,
       cooling_until = CASE WHEN g.standing = 'active' AND r.until > clock_timestamp() THEN r.until END,
       back_at = CASE WHEN g.standing <> 'inactive' AND (g.standing = 'blocked' OR r.until > clock_timestamp())
                      THEN r.until END,
       last_outcome = coalesce(g.outcome, a.last_outcome),
       last_outcome_at = CASE WHEN g.outcome IS NULL THEN a.last_outcome_at ELSE clock_timestamp() END,
       updated_at = clock_timestamp()
  FROM rested r
  JOIN given g ON g.lease = r.id
 WHERE a.organisation = %(organisation)s::uuid AND a.id = r.resource AND a.lease = r.id
RETURNING r.id AS lease, a.id, a.site, a.lease IS NULL AND a.standing = 'active' AND a.cooling_until IS NULL AS is_free;

-- name: mend
-- Leaves accounts as said, apart from their lease: rested, on probation, or forgiven.
UPDATE account a
   SET standing = g.standing, blocked_reason = g.blocked_reason, consecutive_failures = g.failures,
       unclean_ends = g.unclean, on_probation = g.probation, needs_login = g.login, before_penalty = g.penalty::jsonb,
       cooling_until = NULL,
       back_at = CASE WHEN a.lease IS NULL THEN NULL ELSE a.back_at END,
       updated_at = clock_timestamp()
  FROM unnest(%(accounts)s::uuid[], %(standings)s::text[], %(blocked_reasons)s::text[], %(failures)s::int[],
              %(unclean)s::int[], %(probations)s::boolean[], %(logins)s::boolean[], %(penalties)s::text[])
    AS g (account, standing, blocked_reason, failures, unclean, probation, login, penalty)
 WHERE a.organisation = %(organisation)s::uuid AND a.id = g.account AND NOT a.moved;

-- name: defer
-- Their leases were renewed meanwhile: look again when those run out.
UPDATE account a
   SET back_at = l.expires_at
  FROM lease l
 WHERE a.organisation = %(organisation)s::uuid AND a.id = ANY(%(accounts)s::uuid[])
   AND l.organisation = %(organisation)s::uuid AND l.id = a.lease;

-- name: pick
-- Free accounts of each wanted kind: higher priority first, then longest idle. What another batch looks at is stepped
-- over.
SELECT DISTINCT ON (picked.site, picked.priority, picked.last_leased_at, picked.id)
       picked.site, picked.id, CASE WHEN %(labelled)s::boolean THEN picked.labels END AS labels
  FROM unnest(%(sites)s::text[], %(labels)s::text[], %(accounts)s::uuid[], %(counts)s::int[])
    AS kind (site, labels, account, wanted)
 CROSS JOIN LATERAL (
        SELECT a.id, a.site, a.labels, a.priority, a.last_leased_at
          FROM account a
         WHERE a.organisation = %(organisation)s::uuid AND a.site = kind.site
           AND a.standing = 'active' AND a.lease IS NULL AND a.cooling_until IS NULL AND NOT a.moved
           AND (kind.account IS NULL OR a.id = kind.account)
           AND (kind.labels IS NULL OR a.labels @> kind.labels::jsonb)
         ORDER BY a.priority DESC, a.last_leased_at, a.id
         LIMIT kind.wanted
           FOR UPDATE SKIP LOCKED) picked
 ORDER BY picked.site, picked.priority DESC, picked.last_leased_at, picked.id;

-- name: pick_any
-- The same where nobody minds which. Without conditions the planner cannot weigh, it follows the index and stops early,
-- however many accounts a site has.
SELECT picked.site, picked.id, NULL::jsonb AS labels
  FROM unnest(%(sites)s::text[], %(counts)s::int[]) AS kind (site, wanted)
 CROSS JOIN LATERAL (
        SELECT a.id, a.site, a.priority, a.last_leased_at
          FROM account a
         WHERE a.organisation = %(organisation)s::uuid AND a.site = kind.site
           AND a.standing = 'active' AND a.lease IS NULL AND a.cooling_until IS NULL AND NOT a.moved
         ORDER BY a.priority DESC, a.last_leased_at, a.id
         LIMIT kind.wanted
           FOR UPDATE SKIP LOCKED) picked
 ORDER BY picked.site, picked.priority DESC, picked.last_leased_at, picked.id;

-- name: grant
-- The fence grows with every grant, in the statement that makes it.
WITH given AS (
    SELECT *
      FROM unnest(%(accounts)s::uuid[], %(leases)s::uuid[], %(owners)s::text[], %(tokens)s::uuid[], %(jobs)s::text[],
                  %(ttls)s::int[]) AS g (account, lease, owner, token, job_id, ttl)
), taken AS (
    UPDATE account a
       SET lease = g.lease, fence = a.fence + 1, last_leased_at = clock_timestamp(),
           back_at = clock_timestamp() + g.ttl * interval '1 second'
      FROM given g
     WHERE a.organisation = %(organisation)s::uuid AND a.id = g.account AND a.lease IS NULL
       AND a.standing = 'active' AND a.cooling_until IS NULL AND NOT a.moved
    RETURNING a.*, g.owner, g.token, g.job_id, g.ttl
), leased AS (
    INSERT INTO lease (id, organisation, kind, resource, site, owner, token, job_id, fence, ttl_seconds, acquired_at,
                       expires_at)
    SELECT t.lease, t.organisation, 'account', t.id, t.site, t.owner, t.token, t.job_id, t.fence, t.ttl,
           t.last_leased_at, t.back_at
      FROM taken t
)
SELECT t.lease, t.owner, t.job_id, t.fence, t.last_leased_at, t.back_at, s.version, s.key_id, s.sealed,
       t.id, t.site, t.username, 'using' AS state, t.standing, t.blocked_reason, t.labels, t.priority,
       NULL::timestamptz AS cooling_until, t.consecutive_failures, t.unclean_ends, t.on_probation, t.needs_login,
       t.last_leased_at, t.last_outcome, t.last_outcome_at, t.created_at, t.updated_at, t.owner AS holder,
       t.lease AS lease_id, t.back_at AS expires_at, t.has_session
  FROM taken t
  JOIN account_secret s ON s.account = t.id AND s.organisation = %(organisation)s::uuid;

-- name: lease
-- A lease on an account, while it lives.
SELECT id, kind, resource, site, owner, job_id, fence, acquired_at, expires_at
  FROM lease
 WHERE organisation = %(organisation)s::uuid AND id = %(lease)s::uuid AND kind = 'account' AND NOT moved
   AND expires_at > clock_timestamp();

-- name: granted
-- What these leases hold, while they live.
SELECT l.id, l.owner, l.job_id, l.fence, l.acquired_at, l.expires_at, s.version, s.key_id, s.sealed,
       n.id, n.site, n.username, n.state, n.standing, n.blocked_reason, n.labels, n.priority, n.cooling_until,
       n.consecutive_failures, n.unclean_ends, n.on_probation, n.needs_login, n.last_leased_at, n.last_outcome,
       n.last_outcome_at, n.created_at, n.updated_at, n.holder, n.lease_id, n.expires_at,
       n.has_session
  FROM lease l
  JOIN account_now n ON n.id = l.resource AND n.organisation = %(organisation)s::uuid
  JOIN account_secret s ON s.account = n.id AND s.organisation = %(organisation)s::uuid
 WHERE l.organisation = %(organisation)s::uuid AND l.id = ANY(%(leases)s::uuid[])
   AND l.expires_at > clock_timestamp() AND NOT l.moved;

-- name: next_back
-- In how many seconds the first account of each site is worth another look.
SELECT wanted.site, greatest(0, extract(epoch FROM next.back_at - clock_timestamp()))::float8 AS in_s
  FROM unnest(%(sites)s::text[]) AS wanted (site)
 CROSS JOIN LATERAL (
        SELECT back_at
          FROM account
         WHERE organisation = %(organisation)s::uuid AND site = wanted.site AND back_at IS NOT NULL AND NOT moved
         ORDER BY back_at
         LIMIT 1) next;

-- name: tally
-- How the accounts of a site fared within the breaker's window.
SELECT count(*) FILTER (WHERE before_penalty IS NOT NULL
                              AND last_outcome_at > clock_timestamp() - %(window)s::int * interval '1 second'),
       count(*) FILTER (WHERE last_outcome_at > clock_timestamp() - %(window)s::int * interval '1 second'),
       count(*) FILTER (WHERE standing = 'active'
                              OR (before_penalty IS NOT NULL
                                  AND last_outcome_at > clock_timestamp() - %(window)s::int * interval '1 second'))
  FROM account
 WHERE organisation = %(organisation)s::uuid AND site = %(site)s::text AND NOT moved;

-- name: failing
-- Whose last word within the window was bad, to be forgiven.
SELECT a.id, a.site, a.standing, a.blocked_reason, a.consecutive_failures, a.unclean_ends, a.on_probation,
       a.needs_login, a.before_penalty
  FROM account a
 WHERE a.organisation = %(organisation)s::uuid AND a.site = %(site)s::text AND a.before_penalty IS NOT NULL
   AND a.last_outcome_at > clock_timestamp() - %(window)s::int * interval '1 second' AND NOT a.moved
   FOR UPDATE SKIP LOCKED;

-- name: create
INSERT INTO account (id, organisation, site, username, labels, priority)
VALUES (%(id)s::uuid, %(organisation)s::uuid, %(site)s::text, %(username)s::text, %(labels)s::jsonb,
        %(priority)s::int);

-- name: put_secret
INSERT INTO account_secret (account, organisation, version, key_id, sealed)
VALUES (%(account)s::uuid, %(organisation)s::uuid, %(version)s::int, %(key_id)s::text, %(sealed)s::bytea)
ON CONFLICT (account) DO UPDATE SET version = excluded.version, key_id = excluded.key_id, sealed = excluded.sealed;

-- name: secret
SELECT version, key_id, sealed
  FROM account_secret
 WHERE organisation = %(organisation)s::uuid AND account = %(account)s::uuid;

-- name: census
-- How many secrets there are under each key, those of moved accounts included.
SELECT key_id, count(*)
  FROM account_secret
 WHERE organisation = %(organisation)s::uuid
 GROUP BY key_id;

-- name: older
-- Secrets that are not under this key. Below or above it, because an index finds nothing that is merely different.
SELECT account, version, key_id, sealed
  FROM account_secret
 WHERE organisation = %(organisation)s::uuid AND (key_id < %(key_id)s::text OR key_id > %(key_id)s::text)
   AND account <> ALL(%(closed)s::uuid[])
 LIMIT %(limit)s::int;

-- name: rewrap
-- Each only while it is what was read: who changes a secret meanwhile wins. Nobody waits for anybody here, so that no
-- import and we wait for each other in a circle; what is stepped over is found at the next look.
WITH given AS (
    SELECT *
      FROM unnest(%(accounts)s::uuid[], %(versions)s::int[], %(old_key_ids)s::text[], %(old_sealed)s::bytea[],
                  %(new_key_ids)s::text[], %(new_sealed)s::bytea[])
        AS g (account, version, key_id, sealed, new_key_id, new_sealed)
), same AS (
    SELECT s.account, g.new_key_id, g.new_sealed
      FROM account_secret s
      JOIN given g ON g.account = s.account AND g.version = s.version AND g.key_id = s.key_id AND g.sealed = s.sealed
     WHERE s.organisation = %(organisation)s::uuid
       FOR UPDATE OF s SKIP LOCKED
)
UPDATE account_secret s
   SET key_id = same.new_key_id, sealed = same.new_sealed
  FROM same
 WHERE s.organisation = %(organisation)s::uuid AND s.account = same.account;

-- name: named
-- Which of these names are taken, kept from others until we are done.
SELECT a.username, a.id, s.version
  FROM account a
  JOIN account_secret s ON s.account = a.id AND s.organisation = %(organisation)s::uuid
 WHERE a.organisation = %(organisation)s::uuid AND a.site = %(site)s::text
   AND a.username = ANY(%(usernames)s::text[]) AND NOT a.moved
 ORDER BY a.id
   FOR UPDATE OF a;

-- name: import_turn
-- Imports of one site go one after the other: two with the same new names would stand in each other's way.
SELECT pg_advisory_xact_lock(hashtextextended(%(organisation)s::uuid || ' ' || %(site)s::text, 2));

-- name: describe
-- What an import says of an account that is there; a part it leaves out stays.
UPDATE account
   SET labels = coalesce(%(labels)s::jsonb, labels), priority = coalesce(%(priority)s::int, priority),
       updated_at = clock_timestamp()
 WHERE organisation = %(organisation)s::uuid AND id = %(id)s::uuid;

-- name: lock
SELECT a.id, a.site, a.standing, a.blocked_reason, a.consecutive_failures, a.unclean_ends, a.on_probation,
       a.needs_login, a.before_penalty
  FROM account a
 WHERE a.organisation = %(organisation)s::uuid AND a.id = %(id)s::uuid AND NOT a.moved
   FOR UPDATE;

-- name: page
SELECT id, site, username, state, standing, blocked_reason, labels, priority, cooling_until, consecutive_failures,
       unclean_ends, on_probation, needs_login, last_leased_at, last_outcome, last_outcome_at, created_at, updated_at,
       holder, lease_id, expires_at, has_session
  FROM account_now
 WHERE organisation = %(organisation)s::uuid
   AND (%(site)s::text IS NULL OR site = %(site)s::text)
   AND (%(state)s::text IS NULL OR state = %(state)s::text)
   AND (%(labels)s::jsonb IS NULL OR labels @> %(labels)s::jsonb)
   AND (%(query)s::text IS NULL OR strpos(lower(username), lower(%(query)s::text)) > 0)
   AND (%(after_site)s::text IS NULL OR (site, username) > (%(after_site)s::text, %(after_username)s::text))
 ORDER BY site, username
 LIMIT %(limit)s::int;

-- name: by_ids
SELECT id, site, username, state, standing, blocked_reason, labels, priority, cooling_until, consecutive_failures,
       unclean_ends, on_probation, needs_login, last_leased_at, last_outcome, last_outcome_at, created_at, updated_at,
       holder, lease_id, expires_at, has_session
  FROM account_now
 WHERE organisation = %(organisation)s::uuid AND id = ANY(%(ids)s::uuid[]);

-- name: delete
-- Not while there is a lease on it, live or not settled yet.
DELETE FROM account
 WHERE organisation = %(organisation)s::uuid AND id = %(id)s::uuid AND NOT moved AND lease IS NULL;

-- name: outlook
-- What there is of a kind of account at a site, and when the first comes back.
SELECT state, count(*), min(CASE state WHEN 'using' THEN expires_at WHEN 'cooling' THEN cooling_until END),
       (array_agg(DISTINCT holder) FILTER (WHERE state = 'using'))[1:20], clock_timestamp()
  FROM account_now
 WHERE organisation = %(organisation)s::uuid AND site = %(site)s::text
   AND (%(account)s::uuid IS NULL OR id = %(account)s::uuid)
   AND (%(labels)s::jsonb IS NULL OR labels @> %(labels)s::jsonb)
 GROUP BY state;

-- name: stats
SELECT site, state, count(*)
  FROM account_now
 WHERE organisation = %(organisation)s::uuid AND (%(site)s::text IS NULL OR site = %(site)s::text)
 GROUP BY site, state;

-- name: count
SELECT count(*)
  FROM account
 WHERE organisation = %(organisation)s::uuid AND site = %(site)s::text AND NOT moved;

-- name: held_by
-- What an owner holds, to be taken from it.
SELECT id
  FROM lease
 WHERE organisation = %(organisation)s::uuid AND kind = 'account' AND owner = %(owner)s::text
   AND expires_at > clock_timestamp() AND NOT moved;

-- name: begin_move
-- Across organisations: from now on no account is made, and accounts go over one by one.
UPDATE pool
   SET moving_to = %(store)s::text
 WHERE store <> %(store)s::text
RETURNING store;

-- name: end_move
-- Across organisations: the pools are there now.
UPDATE pool
   SET store = moving_to, moving_to = NULL
 WHERE moving_to = %(store)s::text
RETURNING store;

-- name: hand_over
-- Marks accounts as gone, so that nothing changes them here any more. What is read of them afterwards is final.
UPDATE account
   SET moved = true
 WHERE organisation = %(organisation)s::uuid
   AND id = ANY(ARRAY(
           SELECT id
             FROM account
            WHERE organisation = %(organisation)s::uuid AND NOT moved
            ORDER BY id
            LIMIT %(limit)s::int
              FOR UPDATE))
RETURNING id;

-- name: hand_over_leases
-- A statement of its own: it has to see a lease that was granted while `hand_over` waited for its account.
UPDATE lease
   SET moved = true
 WHERE organisation = %(organisation)s::uuid AND resource = ANY(%(ids)s::uuid[]);

-- name: unmoved
SELECT count(*) FROM account WHERE organisation = %(organisation)s::uuid AND NOT moved;

-- name: handed_over
-- Accounts that are gone from here, with everything there is to them.
SELECT a.id, a.site, a.username, a.standing, a.blocked_reason, a.labels, a.priority, a.consecutive_failures,
       a.unclean_ends, a.on_probation, a.needs_login, a.cooling_until,
       nullif(a.last_leased_at, '-infinity') AS last_leased_at, a.last_outcome, a.last_outcome_at, a.before_penalty,
       a.fence, a.fence_base, a.back_at, a.created_at, a.updated_at, a.session_rev, a.session_version, a.has_session,
       s.version, s.key_id, s.sealed,
       l.id AS lease_id, l.owner, l.token, l.job_id, l.ttl_seconds, l.acquired_at, l.expires_at
  FROM account a
  JOIN account_secret s ON s.account = a.id AND s.organisation = %(organisation)s::uuid
  LEFT JOIN lease l ON l.id = a.lease AND l.organisation = %(organisation)s::uuid
 WHERE a.organisation = %(organisation)s::uuid AND a.moved = %(moved)s::boolean
   AND (%(after)s::uuid IS NULL OR a.id > %(after)s::uuid)
 ORDER BY a.id
 LIMIT %(limit)s::int;

-- name: arrived
SELECT id FROM account WHERE organisation = %(organisation)s::uuid AND id = ANY(%(ids)s::uuid[]) AND NOT moved;

-- name: receive
-- An account comes (back) from the other store.
INSERT INTO account (id, organisation, site, username, standing, blocked_reason, labels, priority,
                     consecutive_failures, unclean_ends, on_probation, needs_login, cooling_until, last_leased_at,
                     last_outcome, last_outcome_at, before_penalty, fence, fence_base, lease, back_at, moved,
                     created_at, updated_at, session_rev, session_version, has_session)
VALUES (%(id)s::uuid, %(organisation)s::uuid, %(site)s::text, %(username)s::text, %(standing)s::text,
        %(blocked_reason)s::text, %(labels)s::jsonb, %(priority)s::int, %(consecutive_failures)s::int,
        %(unclean_ends)s::int, %(on_probation)s::boolean, %(needs_login)s::boolean, %(cooling_until)s::timestamptz,
        coalesce(%(last_leased_at)s::timestamptz, '-infinity'), %(last_outcome)s::text,
        %(last_outcome_at)s::timestamptz, %(before_penalty)s::jsonb, %(fence)s::bigint, %(fence_base)s::bigint,
        %(lease_id)s::uuid, %(back_at)s::timestamptz, false, %(created_at)s::timestamptz,
        %(updated_at)s::timestamptz, %(session_rev)s::int, %(session_version)s::int, %(has_session)s::boolean)
ON CONFLICT (id) DO UPDATE
   SET site = excluded.site, username = excluded.username, standing = excluded.standing,
       blocked_reason = excluded.blocked_reason, labels = excluded.labels, priority = excluded.priority,
       consecutive_failures = excluded.consecutive_failures, unclean_ends = excluded.unclean_ends,
       on_probation = excluded.on_probation, needs_login = excluded.needs_login,
       cooling_until = excluded.cooling_until, last_leased_at = excluded.last_leased_at,
       last_outcome = excluded.last_outcome, last_outcome_at = excluded.last_outcome_at,
       before_penalty = excluded.before_penalty, fence = excluded.fence, fence_base = excluded.fence_base,
       lease = excluded.lease, back_at = excluded.back_at, moved = false, created_at = excluded.created_at,
       updated_at = excluded.updated_at, session_rev = excluded.session_rev,
       session_version = excluded.session_version, has_session = excluded.has_session;

-- name: receive_lease
INSERT INTO lease (id, organisation, kind, resource, site, owner, token, job_id, fence, ttl_seconds, acquired_at,
                   expires_at)
VALUES (%(lease_id)s::uuid, %(organisation)s::uuid, 'account', %(id)s::uuid, %(site)s::text, %(owner)s::text,
        %(token)s::uuid, %(job_id)s::text, %(fence)s::bigint, %(ttl_seconds)s::int, %(acquired_at)s::timestamptz,
        %(expires_at)s::timestamptz);

-- name: drop_lease
-- Whatever lease an account had here before it went away.
DELETE FROM lease WHERE organisation = %(organisation)s::uuid AND resource = %(id)s::uuid AND moved;

-- name: ends
-- How leases on accounts ended, in the order of their ids.
SELECT id, resource, site, owner, token, job_id, fence, acquired_at, expires_at, ended_at, how, outcome, reason
  FROM lease_end
 WHERE organisation = %(organisation)s::uuid AND kind = 'account'
   AND (%(after)s::uuid IS NULL OR id > %(after)s::uuid)
 ORDER BY id
 LIMIT %(limit)s::int;

-- name: receive_end
INSERT INTO lease_end (id, organisation, kind, resource, site, owner, token, job_id, fence, acquired_at, expires_at,
                       ended_at, how, outcome, reason)
VALUES (%(id)s::uuid, %(organisation)s::uuid, 'account', %(resource)s::uuid, %(site)s::text, %(owner)s::text,
        %(token)s::uuid, %(job_id)s::text, %(fence)s::bigint, %(acquired_at)s::timestamptz,
        %(expires_at)s::timestamptz, %(ended_at)s::timestamptz, %(how)s::text, %(outcome)s::text, %(reason)s::text)
ON CONFLICT (id) DO NOTHING;

-- name: purge_leases
DELETE FROM lease WHERE organisation = %(organisation)s::uuid AND moved;

-- name: purge
-- Accounts that went to the other store, with their secrets.
DELETE FROM account WHERE organisation = %(organisation)s::uuid AND moved;

-- name: books
-- What the accounts say they were granted, beside what the history says became of it. The lowest 29 bits of a fence
-- count grants; above them is the era (leases/fences.py).
WITH ended AS (
    SELECT e.resource, count(*) AS ends, count(*) FILTER (WHERE e.how = 'released') AS released,
           count(*) FILTER (WHERE e.how = 'expired') AS expired, count(*) FILTER (WHERE e.how = 'revoked') AS revoked
      FROM lease_end e
     WHERE e.organisation = %(organisation)s::uuid AND e.kind = 'account'
     GROUP BY e.resource
), account_book AS (
    SELECT (a.fence & 536870911) - a.fence_base AS grants, coalesce(e.ends, 0) AS ends, coalesce(e.released, 0) AS released,
           coalesce(e.expired, 0) AS expired, coalesce(e.revoked, 0) AS revoked,
           (l.id IS NOT NULL)::int AS held, (a.lease IS NOT NULL)::int AS said_held
      FROM account a
      LEFT JOIN ended e ON e.resource = a.id
      LEFT JOIN lease l ON l.resource = a.id AND l.id = a.lease AND l.organisation = %(organisation)s::uuid
     WHERE a.organisation = %(organisation)s::uuid AND NOT a.moved
)
SELECT coalesce(sum(grants), 0)::bigint, coalesce(sum(released), 0)::bigint, coalesce(sum(expired), 0)::bigint,
       coalesce(sum(revoked), 0)::bigint, coalesce(sum(held), 0)::bigint,
       count(*) FILTER (WHERE grants <> ends + held), count(*) FILTER (WHERE held <> said_held)
  FROM account_book;
