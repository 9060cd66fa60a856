-- Makes a model the space's own: the new revision, null when vectors are missing.
select activate_model($2, $1)
