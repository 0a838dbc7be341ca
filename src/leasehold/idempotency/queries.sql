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
   SET at = clock_timestamp(), body_digest = excluded.body_digest, resource = '', recalled = 0
 WHERE idempotency_key.at < clock_timestamp() - interval '24 hours';

-- name: recall_many
-- What earlier requests left under these keys; nothing for those just claimed. Whoever is told is counted.
UPDATE idempotency_key k
   SET recalled = k.recalled + (k.body_digest = g.body_digest)::int
  FROM unnest(%(tokens)s::uuid[], %(routes)s::text[], %(keys)s::text[], %(body_digests)s::bytea[])
    AS g (token, route, key, body_digest)
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
DELETE FROM idempotency_key k
 USING unnest(%(tokens)s::uuid[], %(routes)s::text[], %(keys)s::text[]) AS g (token, route, key)
 WHERE k.organisation = %(organisation)s::uuid AND k.token = g.token AND k.route = g.route AND k.key = g.key;

-- name: hold_many
-- Keys that are there already, kept from others until we are done; in one order, against circles.
SELECT k.key
  FROM idempotency_key k
  JOIN unnest(%(tokens)s::uuid[], %(routes)s::text[], %(keys)s::text[]) AS g (token, route, key)
    ON k.token = g.token AND k.route = g.route AND k.key = g.key
 WHERE k.organisation = %(organisation)s::uuid
 ORDER BY k.token, k.route, k.key
   FOR UPDATE OF k;

-- name: hang_up_many
-- One less of those who were told of what is under each key; `is_left` when there is nobody any more. Their rows are ours
-- until we are done: a repeat waits for what becomes of them. In one order, against circles.
WITH locked AS (
    SELECT k.token, k.route, k.key
      FROM idempotency_key k
      JOIN unnest(%(tokens)s::uuid[], %(routes)s::text[], %(keys)s::text[], %(resources)s::text[])
        AS g (token, route, key, resource)
        ON k.token = g.token AND k.route = g.route AND k.key = g.key AND position(g.resource IN k.resource) > 0
     WHERE k.organisation = %(organisation)s::uuid
     ORDER BY k.token, k.route, k.key
       FOR UPDATE OF k
)
UPDATE idempotency_key k
   SET recalled = k.recalled - 1
  FROM locked l
 WHERE k.organisation = %(organisation)s::uuid AND k.token = l.token AND k.route = l.route AND k.key = l.key
RETURNING k.token, k.route, k.key, k.recalled < 0 AS is_left;
