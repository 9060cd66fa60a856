-- Beats for turns; those that come back are still their worker's.
update pgqueuer set heartbeat = now()
where id = any($1::bigint[]) and queue_manager_id = $2 and status = 'picked' returning id
