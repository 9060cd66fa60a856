-- A space's counts, revision and model.
select s.documents, s.chunks, s.revision, m.name, m.dimension
from space_stats s left join model m on m.id = s.model_id
where s.space = $1
