-- A model by name, made with its table when it is new.
select id, name, dimension from register_model($1, $2)
