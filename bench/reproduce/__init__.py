"""The tables and figures of the five papers, recomputed and compared with the printed ones.

``python -m bench.reproduce`` runs everything; see `__main__`. A *cell* (`cells`) is a computation whose result is kept.
Tables and figures (`registry`) say which number of which cell is compared with which number of the paper. The numbers
of the papers are in `published/`. `pages` writes the pages.
"""
