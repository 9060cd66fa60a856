"""`braid sync` and `braid sources`: folders, repositories, sites, feeds and mailboxes whose documents are kept in step.

A connector lists what is in a source of its kind and reads it: `folder`, `git`, `web`, `feed`, `maildir`. What is
listed is compared with what is stored, and what differs is ingested. A document's id is the source's name and its path
within it.
"""
