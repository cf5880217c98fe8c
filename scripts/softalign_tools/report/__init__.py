"""One HTML file about a run, a study or a sweep; `scripts/report.py` is its command line, `page` its beginning and end.

The charts are drawn here, as SVG, and no plotting library is in the page: Debian's python3-plotly (12 and 13) has plotly.js only
in its long form of 8.6 MB, which each report would carry, without tables, print style and keyboard.
"""
