-- Allows a space to store vectors of a second model.
insert into space_model (space, model_id)
select $1, $2 where not exists (select from space_stats s where s.space = $1 and s.model_id = $2)
on conflict do nothing
