-- Ends a write and deletes its text. No row if it was ended or erased meanwhile.
update memory_write set end_time = now(), payload = null, lease_time = null, failure = ''
where space = $1 and user_id = $2 and number = $3 and end_time is null
returning number
