-- Adds a turn unless it exists; in both cases it is locked until the transaction ends.
insert into turn (stage, key, ready_time) values ($1, $2, now() + $3::interval)
on conflict (stage, key) do update set key = excluded.key
