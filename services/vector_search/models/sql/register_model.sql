-- A model by name and dimension, made with its tables when it is new; nulls when the space may bring no more.
select id from register_model($1, $2, $3)
