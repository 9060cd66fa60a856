-- Indexes stored chunks again whose title differs and is set by the latest version; returns their former words.
select id, was, length_change, current from retitle_chunks($1, $2, $3, $4)
