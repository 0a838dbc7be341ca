-- name: raise
-- In the transaction of what it tells of. Only added, so nobody waits for anybody here.
INSERT INTO alert (id, organisation, kind, platform, reason, count, job_ids)
VALUES (%(id)s::uuid, %(organisation)s::uuid, %(kind)s::text, %(platform)s::text, %(reason)s::text, %(count)s::int,
        %(job_ids)s::text[]);

-- name: is_any
SELECT EXISTS (SELECT FROM alert a WHERE a.organisation = %(organisation)s::uuid)
    OR EXISTS (SELECT FROM alert_message m WHERE m.organisation = %(organisation)s::uuid);

-- name: turn
-- One at a time for each organisation; whoever comes second leaves it to the first.
SELECT pg_try_advisory_xact_lock(hashtextextended(%(organisation)s::uuid::text, 7));

-- name: take
-- What may be told now, taken out: nothing of a matter that is still being told, or that was told of a moment ago; and no
-- more matters in a minute than somebody can read, whatever codes a crawler makes up.
WITH matters AS (
    SELECT a.kind, a.platform, a.reason
      FROM alert a
     WHERE a.organisation = %(organisation)s::uuid
       AND NOT EXISTS (
           SELECT
             FROM alert_message m
            WHERE m.organisation = %(organisation)s::uuid AND m.kind = a.kind AND m.platform IS NOT DISTINCT FROM a.platform
              AND m.reason IS NOT DISTINCT FROM a.reason
              AND (m.sent_at IS NULL
                   OR (m.kind = ANY(%(swarms)s::text[])
                       AND m.sent_at > clock_timestamp() - %(quiet_s)s::int * interval '1 second')))
     GROUP BY a.kind, a.platform, a.reason
     ORDER BY min(a.at)
     LIMIT greatest(0, %(limit)s::int - (
           SELECT count(*)::int
             FROM alert_message m
            WHERE m.organisation = %(organisation)s::uuid
              AND m.made_at > clock_timestamp() - %(quiet_s)s::int * interval '1 second'))
)
DELETE FROM alert a
 USING matters t
 WHERE a.organisation = %(organisation)s::uuid AND a.kind = t.kind AND a.platform IS NOT DISTINCT FROM t.platform
   AND a.reason IS NOT DISTINCT FROM t.reason
RETURNING a.kind, a.platform, a.reason, a.count, a.job_ids, a.at;

-- name: make
INSERT INTO alert_message (id, organisation, kind, platform, reason, count, job_ids, at)
VALUES (%(id)s::uuid, %(organisation)s::uuid, %(kind)s::text, %(platform)s::text, %(reason)s::text, %(count)s::int,
        %(job_ids)s::text[], %(at)s::timestamptz);

-- name: due
-- Ours to send. It is due again after a while that grows, unless somebody says before that it was sent.
UPDATE alert_message m
   SET tries = m.tries + 1,
       due_at = clock_timestamp() + least(600, 10 * 2 ^ least(m.tries, 10)) * interval '1 second'
 WHERE m.organisation = %(organisation)s::uuid
   AND m.id IN (SELECT d.id
                  FROM alert_message d
                 WHERE d.organisation = %(organisation)s::uuid AND d.sent_at IS NULL AND d.due_at <= clock_timestamp()
                 ORDER BY d.due_at, d.at
                 LIMIT %(limit)s::int
                   FOR UPDATE SKIP LOCKED)
RETURNING m.id, m.kind, m.platform, m.reason, m.count, m.job_ids, m.at,
          extract(epoch FROM clock_timestamp())::bigint AS now_s;

-- name: sent
UPDATE alert_message m
   SET sent_at = clock_timestamp()
 WHERE m.organisation = %(organisation)s::uuid AND m.id = ANY(%(messages)s::uuid[]);

-- name: recent
-- What was raised within the last day and is still known, the newest first: told, to be told, or told of to nobody.
SELECT told.kind, told.platform, told.reason, told.count, told.at, told.sent_at, told.tries
  FROM (SELECT a.kind, a.platform, a.reason, sum(a.count)::int AS count, max(a.at) AS at, NULL::timestamptz AS sent_at,
               0 AS tries
          FROM alert a
         WHERE a.organisation = %(organisation)s::uuid
         GROUP BY a.kind, a.platform, a.reason
         UNION ALL
        SELECT m.kind, m.platform, m.reason, m.count, m.at, m.sent_at, m.tries
          FROM alert_message m
         WHERE m.organisation = %(organisation)s::uuid) AS told
 ORDER BY told.at DESC
 LIMIT %(limit)s::int;

-- name: sweep_alerts
-- Nobody wants to be told tomorrow.
DELETE FROM alert a
 WHERE a.organisation = %(organisation)s::uuid AND a.at < clock_timestamp() - interval '1 day';

-- name: sweep_messages
DELETE FROM alert_message m
 WHERE m.organisation = %(organisation)s::uuid
   AND (m.made_at < clock_timestamp() - interval '1 day' OR m.sent_at < clock_timestamp() - interval '10 minutes')
RETURNING m.sent_at IS NULL AS is_lost;
