-- Releases the session, if holder $4 still has it.
delete from memory_session_lease where space = $1 and user_id = $2 and session_id = $3 and holder = $4
