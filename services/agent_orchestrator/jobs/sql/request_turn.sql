-- Adds a turn unless there is one; either way nobody ends it before the transaction does.
insert into turn (stage, key, ready_time) values ($1, $2, now() + $3::interval)
on conflict (stage, key) do update set key = excluded.key
