-- Forgets that a session is closed, because its summary is gone.
delete from closed_session where space = $1 and user_id = $2 and summary_id = $3
