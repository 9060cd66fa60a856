-- Closes a session; the one who closed it before keeps its summary.
insert into closed_session (space, user_id, session_id, summary_id) values ($1, $2, $3, $4)
on conflict do nothing
