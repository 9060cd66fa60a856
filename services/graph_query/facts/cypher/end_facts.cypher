// Sets or removes the end of facts; the stated end is kept. Without a cause, the first episode that a fact cites is the
// cause of the change. `braid_ended_by` is the cause of the end itself.
UNWIND $p.rows AS row
MATCH ()-[e:RELATES_TO {uuid: row.uuid}]->() USING INDEX SEEK e:RELATES_TO(uuid)
SET e.stated_at = CASE WHEN e.stated_until IS NULL THEN e.invalid_at ELSE e.stated_at END
SET e.stated_until = coalesce(e.stated_until, e.valid_until)
SET e.invalid_at = row.at, e.valid_until = row.until, e.expired_at = CASE WHEN row.until < e.stated_until THEN $p.now END,
    e.braid_known_from = $p.known, e.braid_cause = coalesce($p.cause, head(e.episodes)), e.braid_ended_by = row.told_by
