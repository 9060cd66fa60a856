-- Ends a write that failed for good and keeps its text for a retry. No row if it was ended or erased meanwhile.
update memory_write set end_time = now(), lease_time = null, failure = $4
where space = $1 and user_id = $2 and number = $3 and end_time is null
returning number
