-- Stores vectors of a model that is being added; how many are stored now.
select fill_embeddings($2, $1, $3, $4, $5)
