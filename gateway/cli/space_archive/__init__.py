"""A space as a folder of files: the format of the archive, and the commands that write, check and import it."""
