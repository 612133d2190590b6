"""The five papers' tables and figures, recomputed and set beside what the papers print.

``python -m bench.reproduce`` runs all of it; see `__main__`. A *cell* (`cells`) is a piece of computation
whose result is kept; tables and figures (`registry`) say which number of which cell stands beside which
number of the paper, and those are in `published/`, copied from the papers; `pages` writes what comes out.
"""
