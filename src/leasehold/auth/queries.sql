-- name: authenticate
-- Across organisations: the hash says who it is. `is_stale` tells the caller to note that it was used.
SELECT token.id, token.organisation, token.name, token.permissions,
       coalesce(token.last_used_at < clock_timestamp() - interval '1 minute', true) AS is_stale
  FROM token
 WHERE token.hash = %(hash)s::bytea
   AND token.revoked_at IS NULL
   AND (token.expires_at IS NULL OR token.expires_at > clock_timestamp());

-- name: touch
UPDATE token
   SET last_used_at = clock_timestamp()
 WHERE id = %(id)s::uuid;

-- name: create
-- Nobody mints more than they hold, time included: it ends with its maker's token at the latest.
INSERT INTO token (id, organisation, name, hash, role, permissions, expires_at)
VALUES (%(id)s::uuid, %(organisation)s::uuid, %(name)s::text, %(hash)s::bytea, %(role)s::text,
        %(permissions)s::text[],
        least(clock_timestamp() + %(lifetime)s::interval,
              (SELECT expires_at FROM token WHERE organisation = %(organisation)s::uuid AND id = %(maker)s::uuid)))
RETURNING id, name, role, permissions, created_at, expires_at, last_used_at;

-- name: get
SELECT id, name, role, permissions, created_at, expires_at, last_used_at
  FROM token
 WHERE organisation = %(organisation)s::uuid AND id = %(id)s::uuid AND revoked_at IS NULL;

-- name: page
SELECT id, name, role, permissions, created_at, expires_at, last_used_at
  FROM token
 WHERE organisation = %(organisation)s::uuid AND revoked_at IS NULL
   AND (%(after)s::uuid IS NULL OR id > %(after)s::uuid)
 ORDER BY id
 LIMIT %(limit)s::int;

-- name: still_good
-- Of those who were let in some time ago: who would be let in now.
SELECT id
  FROM token
 WHERE organisation = %(organisation)s::uuid AND id = ANY(%(tokens)s::uuid[]) AND revoked_at IS NULL
   AND (expires_at IS NULL OR expires_at > clock_timestamp()) AND %(permission)s::text = ANY(permissions);

-- name: revoke
UPDATE token
   SET revoked_at = clock_timestamp()
 WHERE organisation = %(organisation)s::uuid AND id = %(id)s::uuid AND revoked_at IS NULL
RETURNING name;

-- name: find_organisation
SELECT id FROM organisation WHERE slug = %(slug)s::text;

-- name: create_organisation
INSERT INTO organisation (id, slug)
VALUES (%(id)s::uuid, %(slug)s::text)
ON CONFLICT ON CONSTRAINT organisation_slug DO NOTHING;

-- name: wait_for_turn
-- Two servers that start at once on an empty database make one admin, not two.
SELECT pg_advisory_xact_lock(hashtext('leasehold first token'));

-- name: is_first
SELECT NOT EXISTS (SELECT FROM token WHERE organisation = %(organisation)s::uuid) AS is_first;
