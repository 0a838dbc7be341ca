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

-- name: claim_many
-- As `claim`, for a batch; in the order of keys, so that two batches never wait for each other in a circle.
INSERT INTO idempotency_key (organisation, token, route, key, body_digest, resource)
SELECT %(organisation)s::uuid, g.token, g.route, g.key, g.body_digest, ''
  FROM unnest(%(tokens)s::uuid[], %(routes)s::text[], %(keys)s::text[], %(body_digests)s::bytea[])
    AS g (token, route, key, body_digest)
 ORDER BY g.token, g.route, g.key
ON CONFLICT (organisation, token, route, key) DO UPDATE
   SET at = clock_timestamp(), body_digest = excluded.body_digest, resource = '', recalled = false
 WHERE idempotency_key.at < clock_timestamp() - interval '24 hours';

-- name: recall_many
-- What earlier requests left under these keys; nothing for those just claimed. That it was told is noted.
UPDATE idempotency_key k
   SET recalled = true
  FROM unnest(%(tokens)s::uuid[], %(routes)s::text[], %(keys)s::text[]) AS g (token, route, key)
 WHERE k.organisation = %(organisation)s::uuid AND k.token = g.token AND k.route = g.route AND k.key = g.key
   AND k.resource <> ''
RETURNING k.token, k.route, k.key, k.body_digest, k.resource;

-- name: keep_many
UPDATE idempotency_key k
   SET resource = g.resource
  FROM unnest(%(tokens)s::uuid[], %(routes)s::text[], %(keys)s::text[], %(resources)s::text[])
    AS g (token, route, key, resource)
 WHERE k.organisation = %(organisation)s::uuid AND k.token = g.token AND k.route = g.route AND k.key = g.key;

-- name: forget_many
-- Not those that a repeat was told of meanwhile.
DELETE FROM idempotency_key k
 USING unnest(%(tokens)s::uuid[], %(routes)s::text[], %(keys)s::text[]) AS g (token, route, key)
 WHERE k.organisation = %(organisation)s::uuid AND k.token = g.token AND k.route = g.route AND k.key = g.key
   AND NOT k.recalled
RETURNING k.token, k.route, k.key;
