-- Shares of a platform: only organisations that could begin something now count as waiting for it, and of what lies in its
-- queue each keeps its own. And where in the stream a chunk lies, so that it is not put there twice.

-- The entry of the stream that it was sent as.
ALTER TABLE receipt ADD COLUMN streamed_as text;

GRANT SELECT (deadline_at, published_at) ON task TO leasehold_system;
GRANT SELECT (platform) ON platform_pause TO leasehold_system;
GRANT SELECT (platform, probe_at) ON platform_breaker TO leasehold_system;

-- A function is replaced by who owns it, and only where that one may make one.
GRANT CREATE ON SCHEMA public TO leasehold_system;
SET LOCAL ROLE leasehold_system;

-- As before: what a platform has in hand, over all organisations, and how many of them wait for it. Who has paused it, whose
-- breaker is open with no probe due, and who has nothing but tasks that rest or whose time is over, waits for something
-- else. Of each, `task_next` has the first that is due; what was overdue before that, the reaper removes.
CREATE OR REPLACE FUNCTION platform_load(slug text, OUT in_hand integer, OUT waiting integer)
    LANGUAGE sql STABLE SECURITY DEFINER SET search_path = public
AS $$
    WITH RECURSIVE step AS (
        (SELECT organisation FROM task WHERE platform = slug AND status = 'pending' ORDER BY organisation LIMIT 1)
        UNION ALL
        SELECT (SELECT t.organisation
                  FROM task t
                 WHERE t.platform = slug AND t.status = 'pending' AND t.organisation > step.organisation
                 ORDER BY t.organisation
                 LIMIT 1)
          FROM step
         WHERE step.organisation IS NOT NULL
    )
    SELECT (SELECT count(*)::int FROM task WHERE platform = slug AND lease IS NOT NULL),
           (SELECT count(*)::int
              FROM step
             WHERE EXISTS (SELECT
                             FROM task t
                            WHERE t.organisation = step.organisation AND t.platform = slug AND t.status = 'pending'
                              AND t.not_before <= statement_timestamp() AND t.deadline_at > statement_timestamp())
               AND NOT EXISTS (SELECT
                                 FROM platform_pause p
                                WHERE p.organisation = step.organisation AND p.platform = slug)
               AND NOT EXISTS (SELECT
                                 FROM platform_breaker b
                                WHERE b.organisation = step.organisation AND b.platform = slug
                                  AND b.probe_at > statement_timestamp()));
$$;

-- Since when what lies in a platform's queue was published, when so many lie there: those of all organisations share one
-- queue, and the newest are those that nobody has taken. A time is all that one learns of others.
CREATE FUNCTION platform_queued_since(slug text, depth integer) RETURNS timestamptz
    LANGUAGE sql STABLE SECURITY DEFINER SET search_path = public
AS $$
    SELECT coalesce((SELECT published_at
                       FROM task
                      WHERE platform = slug AND lease IS NOT NULL AND status = 'dispatched' AND published_at IS NOT NULL
                      ORDER BY published_at DESC
                     OFFSET greatest(depth, 1) - 1
                      LIMIT 1),
                    '-infinity');
$$;
REVOKE ALL ON FUNCTION platform_queued_since FROM PUBLIC;
GRANT EXECUTE ON FUNCTION platform_queued_since TO leasehold_app;

RESET ROLE;
REVOKE CREATE ON SCHEMA public FROM leasehold_system;

INSERT INTO schema_mark (name) VALUES ('0026_shares');
