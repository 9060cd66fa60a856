-- Makes the space's row, or gives an empty space another model.
insert into space_stats as s (space, model_id) values ($1, $2)
on conflict (space) do update set model_id = excluded.model_id
where s.chunks = 0 and s.model_id is distinct from excluded.model_id
