-- Memories whose storing or deletion was interrupted some time ago.
select * from memory where space = $1 and user_id = $2 and not ready and create_time < now() - make_interval(secs => $3)
limit 100
