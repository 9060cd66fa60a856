-- A model by name and dimension, created with its tables when it is new; null when the space may register no more.
select id from register_model($1, $2, $3)
