-- Returns a model by name and dimension, creating it with its tables if it is new; null if the space may not register
-- more.
select id from register_model($1, $2, $3)
