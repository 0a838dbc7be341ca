-- name: claim
-- A row comes back when the key is new or a day old. A twin that runs at the same time waits here for the first to end.
INSERT INTO idempotency_key (organisation, token, route, key, body_digest, resource)
VALUES (%(organisation)s::uuid, %(token)s::uuid, %(route)s::text, %(key)s::text, %(body_digest)s::bytea, '')
ON CONFLICT (organisation, token, route, key) DO UPDATE
   SET at = clock_timestamp(), body_digest = excluded.body_digest, resource = ''
 WHERE idempotency_key.at < clock_timestamp() - interval '24 hours'
RETURNING resource;

-- name: recall
SELECT body_digest, resource
  FROM idempotency_key
 WHERE organisation = %(organisation)s::uuid AND token = %(token)s::uuid
   AND route = %(route)s::text AND key = %(key)s::text;

-- name: keep
UPDATE idempotency_key
   SET resource = %(resource)s::text
 WHERE organisation = %(organisation)s::uuid AND token = %(token)s::uuid
   AND route = %(route)s::text AND key = %(key)s::text;

-- name: forget
-- What was asked changed nothing, so there is nothing a repeat could find.
DELETE FROM idempotency_key
 WHERE organisation = %(organisation)s::uuid AND token = %(token)s::uuid
   AND route = %(route)s::text AND key = %(key)s::text;

-- name: sweep
-- Across organisations: keys nobody may repeat any more.
DELETE FROM idempotency_key
 WHERE at < clock_timestamp() - interval '24 hours';
