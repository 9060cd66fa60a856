-- Closes a session; if another call closed it before, that call's summary is kept.
insert into closed_session (space, user_id, session_id, summary_id) values ($1, $2, $3, $4)
on conflict do nothing
