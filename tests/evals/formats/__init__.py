"""Files of all formats, languages and encodings: what of their text, titles and dates arrives in the documents."""
