"""Reading episodes with Graphiti: it extracts, resolves and dates; what it finds is written by the store.

Only `reader` and `known` may be imported from elsewhere: the other modules import Graphiti, which is heavy and which a
tier without a language model never pays for.
"""
