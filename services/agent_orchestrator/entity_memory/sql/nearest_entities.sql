-- Entities by the cosine similarity of their vectors to one of the same model: exact, because all of the user's vectors
-- are compared. The HNSW index is over another expression than the order here, so no plan can use it.
select v.entity_id as id, 1 - (v.embedding <=> $4::text::halfvec) as similarity
from memory_entity_vector v
join memory_entity e on e.space = $1 and e.user_id = $2 and e.id = v.entity_id
where v.space = $1 and v.user_id = $2 and v.model = $3 and e.delete_time is null
  and (cardinality($5::text[]) = 0 or e.type = any ($5))
order by v.embedding <=> $4::text::halfvec, v.entity_id
limit $6
