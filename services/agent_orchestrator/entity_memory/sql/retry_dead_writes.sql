-- Queues the user's writes that failed for good again.
update memory_write set end_time = null, due_time = clock_timestamp(), attempt_count = 0, failure = ''
where space = $1 and user_id = $2 and end_time is not null and failure <> '' and payload is not null
returning number
