-- name: issue
INSERT INTO live_ticket (digest, organisation, token, ends_at)
VALUES (%(digest)s::bytea, %(organisation)s::uuid, %(token)s::uuid,
        clock_timestamp() + %(lifetime_s)s::int * interval '1 second');

-- name: redeem
-- Across organisations: the digest says whose it is. Its first use is its end, also when it comes too late.
DELETE FROM live_ticket
 WHERE digest = %(digest)s::bytea
RETURNING organisation, token, ends_at > clock_timestamp();

-- name: sweep
-- Across organisations: what nobody has used.
DELETE FROM live_ticket
 WHERE ends_at < clock_timestamp();
