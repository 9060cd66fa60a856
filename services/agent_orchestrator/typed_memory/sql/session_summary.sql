-- The summary of a closed session.
select summary_id from closed_session where space = $1 and user_id = $2 and session_id = $3
