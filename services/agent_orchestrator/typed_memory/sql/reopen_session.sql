-- Reopens a closed session, because its summary was deleted.
delete from closed_session where space = $1 and user_id = $2 and summary_id = $3
