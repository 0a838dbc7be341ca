-- name: look
-- What is kept of an account's session, and the lease that is spoken for if it lives and is on this account.
SELECT a.site, a.session_rev, a.session_version, v.key_id, v.sealed, v.facts, v.made, v.made_at, l.owner, l.acquired_at,
       clock_timestamp() AS now
  FROM account a
  LEFT JOIN session_version v ON v.account = a.id AND v.rev = a.session_rev AND a.has_session
                             AND v.organisation = %(organisation)s::uuid
  LEFT JOIN lease l ON l.id = %(lease)s::uuid AND l.resource = a.id AND NOT l.moved
                   AND l.organisation = %(organisation)s::uuid AND l.expires_at > clock_timestamp()
 WHERE a.organisation = %(organisation)s::uuid AND a.id = %(account)s::uuid AND NOT a.moved;

-- name: looks
-- The same for several accounts, without their leases.
SELECT a.id, a.site, a.session_rev, a.session_version, v.key_id, v.sealed, v.facts, v.made, v.made_at,
       clock_timestamp() AS now
  FROM account a
  JOIN session_version v ON v.account = a.id AND v.rev = a.session_rev AND v.organisation = %(organisation)s::uuid
 WHERE a.organisation = %(organisation)s::uuid AND a.id = ANY(%(accounts)s::uuid[]) AND a.has_session AND NOT a.moved;

-- name: hold
-- Kept from others until we are done. An end of its lease that was on its way is over then, and the next statement sees it:
-- one that had waited for the account itself would still see the lease as it was before.
SELECT a.id
  FROM account a
 WHERE a.organisation = %(organisation)s::uuid AND a.id = %(account)s::uuid
   FOR NO KEY UPDATE;

-- name: point
-- Only onto what was read, and for a holder only while its lease lives: both are in the WHERE.
UPDATE account a
   SET session_rev = a.session_rev + 1, session_version = %(version)s::int, has_session = %(has_session)s::boolean,
       updated_at = clock_timestamp()
 WHERE a.organisation = %(organisation)s::uuid AND a.id = %(account)s::uuid AND NOT a.moved
   AND a.session_rev = %(rev)s::int
   AND (%(lease)s::uuid IS NULL OR EXISTS (
           SELECT 1
             FROM lease l
            WHERE l.organisation = %(organisation)s::uuid AND l.id = %(lease)s::uuid AND l.resource = a.id
              AND NOT l.moved AND l.expires_at > clock_timestamp()));

-- name: keep
INSERT INTO session_version (account, organisation, rev, version, key_id, sealed, facts, made, made_at)
VALUES (%(account)s::uuid, %(organisation)s::uuid, %(rev)s::int, %(version)s::int, %(key_id)s::text, %(sealed)s::bytea,
        %(facts)s::jsonb, %(made)s::jsonb, COALESCE(%(made_at)s::timestamptz, clock_timestamp()));

-- name: shed
-- Of one version only the newest is kept, and of versions the newest ones and those that a lease started from.
DELETE FROM session_version v
 WHERE v.organisation = %(organisation)s::uuid AND v.account = %(account)s::uuid AND v.rev < %(rev)s::int
   AND (v.version = %(version)s::int
        OR (v.version <= %(version)s::int - %(most)s::int
            AND NOT EXISTS (SELECT 1
                              FROM session_base b
                             WHERE b.organisation = %(organisation)s::uuid AND b.account = v.account
                               AND b.version = v.version)));

-- name: empty
DELETE FROM session_version
 WHERE organisation = %(organisation)s::uuid AND account = %(account)s::uuid;

-- name: version
SELECT rev, version, key_id, sealed, facts, made, made_at
  FROM session_version
 WHERE organisation = %(organisation)s::uuid AND account = %(account)s::uuid AND version = %(version)s::int
 ORDER BY rev DESC
 LIMIT 1;

-- name: versions
SELECT rev, version, key_id, ''::bytea AS sealed, facts, made, made_at
  FROM session_version
 WHERE organisation = %(organisation)s::uuid AND account = %(account)s::uuid
   AND (%(before)s::int IS NULL OR version < %(before)s::int)
 ORDER BY version DESC
 LIMIT %(limit)s::int;

-- name: page
SELECT a.id, a.site, a.username, a.session_version, v.facts, v.made, v.made_at
  FROM account a
  JOIN session_version v ON v.account = a.id AND v.rev = a.session_rev AND v.organisation = %(organisation)s::uuid
 WHERE a.organisation = %(organisation)s::uuid AND a.has_session AND NOT a.moved
   AND (%(site)s::text IS NULL OR a.site = %(site)s::text)
   AND (%(after_site)s::text IS NULL OR (a.site, a.username) > (%(after_site)s::text, %(after_username)s::text))
 ORDER BY a.site, a.username
 LIMIT %(limit)s::int;

-- name: count
SELECT count(*)
  FROM account
 WHERE organisation = %(organisation)s::uuid AND site = %(site)s::text AND has_session AND NOT moved;

-- name: base
SELECT version, note, key_id, sealed, at
  FROM session_base
 WHERE organisation = %(organisation)s::uuid AND lease = %(lease)s::uuid;

-- name: put_base
-- Only while the lease lives: who is handed a session holds the account.
INSERT INTO session_base (lease, organisation, account, version, note, key_id, sealed)
SELECT l.id, l.organisation, l.resource, %(version)s::int, %(note)s::jsonb, %(key_id)s::text, %(sealed)s::bytea
  FROM lease l
 WHERE l.organisation = %(organisation)s::uuid AND l.id = %(lease)s::uuid AND l.resource = %(account)s::uuid
   AND NOT l.moved AND l.expires_at > clock_timestamp()
ON CONFLICT (lease) DO UPDATE
   SET version = excluded.version, note = excluded.note, key_id = excluded.key_id, sealed = excluded.sealed,
       at = clock_timestamp();

-- name: drop_bases
-- Of leases that are over. A little later, so that who is just being told so finds the same as before.
DELETE FROM session_base b
 WHERE b.organisation = %(organisation)s::uuid AND b.at < clock_timestamp() - interval '1 minute'
   AND NOT EXISTS (SELECT 1 FROM lease l WHERE l.id = b.lease AND l.organisation = %(organisation)s::uuid);

-- name: census
SELECT key_id, count(*)
  FROM (SELECT key_id FROM session_version WHERE organisation = %(organisation)s::uuid
         UNION ALL
        SELECT key_id FROM session_base WHERE organisation = %(organisation)s::uuid AND key_id IS NOT NULL) kept
 GROUP BY key_id;

-- name: older
-- What is not under this key: versions by their account and rev, what leases started from by the lease.
SELECT 'version' AS kind, account AS row, rev AS number, key_id, sealed
  FROM session_version
 WHERE organisation = %(organisation)s::uuid AND (key_id < %(key_id)s::text OR key_id > %(key_id)s::text)
   AND account <> ALL(%(closed)s::uuid[])
 UNION ALL
SELECT 'base', lease, 0, key_id, sealed
  FROM session_base
 WHERE organisation = %(organisation)s::uuid AND (key_id < %(key_id)s::text OR key_id > %(key_id)s::text)
   AND lease <> ALL(%(closed)s::uuid[])
 LIMIT %(limit)s::int;

-- name: rewrap_version
-- Only while it is what was read.
UPDATE session_version
   SET key_id = %(key_id)s::text, sealed = %(sealed)s::bytea
 WHERE organisation = %(organisation)s::uuid AND account = %(row)s::uuid AND rev = %(number)s::int
   AND key_id = %(old_key_id)s::text AND sealed = %(before)s::bytea;

-- name: rewrap_base
UPDATE session_base
   SET key_id = %(key_id)s::text, sealed = %(sealed)s::bytea
 WHERE organisation = %(organisation)s::uuid AND lease = %(row)s::uuid
   AND key_id = %(old_key_id)s::text AND sealed = %(before)s::bytea;

-- name: pages
-- Every version there is of accounts that moved, or of those that are here, to be brought to the other store.
SELECT v.account, v.rev, v.version, v.key_id, v.sealed, v.facts, v.made, v.made_at
  FROM session_version v
  JOIN account a ON a.id = v.account AND a.organisation = %(organisation)s::uuid
 WHERE v.organisation = %(organisation)s::uuid AND a.moved = %(moved)s::boolean
   AND (%(after)s::uuid IS NULL OR (v.account, v.rev) > (%(after)s::uuid, %(after_rev)s::int))
 ORDER BY v.account, v.rev
 LIMIT %(limit)s::int;

-- name: base_pages
SELECT b.lease, b.account, b.version, b.note, b.key_id, b.sealed, b.at
  FROM session_base b
  JOIN account a ON a.id = b.account AND a.organisation = %(organisation)s::uuid
 WHERE b.organisation = %(organisation)s::uuid AND a.moved = %(moved)s::boolean
   AND (%(after)s::uuid IS NULL OR b.lease > %(after)s::uuid)
 ORDER BY b.lease
 LIMIT %(limit)s::int;

-- name: receive_version
INSERT INTO session_version (account, organisation, rev, version, key_id, sealed, facts, made, made_at)
VALUES (%(account)s::uuid, %(organisation)s::uuid, %(rev)s::int, %(version)s::int, %(key_id)s::text, %(sealed)s::bytea,
        %(facts)s::jsonb, %(made)s::jsonb, %(made_at)s::timestamptz)
ON CONFLICT (account, rev) DO UPDATE
   SET version = excluded.version, key_id = excluded.key_id, sealed = excluded.sealed, facts = excluded.facts,
       made = excluded.made, made_at = excluded.made_at;

-- name: receive_base
INSERT INTO session_base (lease, organisation, account, version, note, key_id, sealed, at)
VALUES (%(lease)s::uuid, %(organisation)s::uuid, %(account)s::uuid, %(version)s::int, %(note)s::jsonb,
        %(key_id)s::text, %(sealed)s::bytea, %(at)s::timestamptz)
ON CONFLICT (lease) DO UPDATE
   SET version = excluded.version, note = excluded.note, key_id = excluded.key_id, sealed = excluded.sealed,
       at = excluded.at;

-- name: forget_versions
DELETE FROM session_version WHERE organisation = %(organisation)s::uuid;

-- name: forget_bases
DELETE FROM session_base WHERE organisation = %(organisation)s::uuid;
