-- Stores vectors of new chunks in the table of their model.
select put_embeddings($1, $2, $3, $4, $5)
