"""What the scripts here and the Python package `softalign_lab` share: asking the program, charts and figures, the report, the search by Optuna.

Pure Python for any interpreter: nothing here imports `softalign_lab`, whose compiled module belongs to one. Scripts are called by their users; this
is imported.
"""
