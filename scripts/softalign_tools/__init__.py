"""Code shared by the scripts and the Python package `softalign_lab`: calling the program, charts and figures, the report, the search with Optuna.

Pure Python for any interpreter: nothing here imports `softalign_lab`, whose compiled module works with only one. Users run the scripts; these
modules are only imported.
"""
