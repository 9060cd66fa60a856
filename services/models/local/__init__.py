"""Models that run in this process: BERT encoders on CTranslate2, with weights from installed packages.

Importing this package loads no library and no weights.
"""
