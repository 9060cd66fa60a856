-- Creates the space's row, or gives an empty space another model.
select open_space($1, $2)
