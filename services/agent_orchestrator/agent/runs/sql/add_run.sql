-- A new run of user $3 in space $2, with a lease of $5 seconds.
insert into agent_run (id, space, user_name, conversation_id, lease_expire_time)
values ($1, $2, $3, $4, now() + make_interval(secs => $5))
