-- name: export_embeddings
-- A page of the space's vectors of a model, each as JSON, with its key.
select exported::text as exported, key::text as key from export_embeddings($2, $1, $3, $4)

-- name: import_chunks
-- Stores chunks as they were exported, with their postings and the counts of their terms, except those that exist.
select import_chunks($1, $2)

-- name: import_embeddings
-- Stores exported vectors of a model, except those that exist.
select import_embeddings($2, $1, $3)

-- name: import_space
-- Gives the space the model, language and counts with which it was exported, and raises its revision.
select import_space($1, $2)

-- name: transferred_models
-- Numbers of the models of which the space has vectors, by name.
select m.id from models_of($1) as s (id) join model m on m.id = s.id order by m.name, m.dimension

-- name: transferred_space
-- The space's counts, language and models, as JSON.
select jsonb_build_object(
  'language', s.language, 'documents', s.documents, 'chunks', s.chunks, 'n', s.n, 'total', s.total, 'next_change', s.next_change,
  'models', (select coalesce(jsonb_agg(jsonb_build_object('name', m.name, 'dimension', m.dimension, 'active', m.id = s.model_id)
                                       order by m.name, m.dimension), '[]')
             from models_of($1) as o (id) join model m on m.id = o.id))::text as exported
from space_stats s where s.space = $1 and s.chunks > 0
