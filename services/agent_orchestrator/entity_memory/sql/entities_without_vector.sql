-- Entities of a space, or of one of its users, without a vector of a model.
select e.space, e.user_id, e.id, e.name, e.type, e.aliases, e.description from memory_entity e
where e.space = $1 and ($2::text is null or e.user_id = $2) and e.type <> 'self' and e.delete_time is null
  and not exists (
    select from memory_entity_vector v
    where v.space = e.space and v.user_id = e.user_id and v.model = $3 and v.entity_id = e.id)
order by e.user_id, e.id
limit $4
