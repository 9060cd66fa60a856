-- The space's models by name, no rows while it is empty, with the number of its vectors of each, and how many of these
-- are not in the index yet.
select m.id, m.name, m.dimension, m.id = s.model_id as active, count_embeddings(m.id, $1) as embedded, s.chunks,
       case when is_large($1) then count_unindexed(m.id, $1) else 0 end as unindexed
from space_stats s
join model m on m.id = s.model_id or m.id in (select x.model_id from space_model x where x.space = $1)
where s.space = $1 and s.chunks > 0
order by m.name
