// Its like without `braid_words`: words with accents were found by their accents alone.
DROP INDEX braid_past_fact_text IF EXISTS
