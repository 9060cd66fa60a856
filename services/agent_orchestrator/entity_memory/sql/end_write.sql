-- Ends a write; its text is not kept. No row where it has ended or was erased meanwhile.
update memory_write set end_time = now(), payload = null, lease_time = null, failure = $4
where space = $1 and user_id = $2 and number = $3 and end_time is null
returning number
