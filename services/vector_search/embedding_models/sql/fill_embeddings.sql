-- Stores vectors of a model that is being added; returns how many were stored.
select fill_embeddings($2, $1, $3, $4, $5)
