-- Makes a model the space's own; returns the new revision, null if vectors are missing.
select activate_model($2, $1)
