"""Reports: one HTML file about a run, a study or a sweep. `scripts/report.py` is the command line; `page` makes the file.

The charts are drawn here, as SVG. The page contains no plotting library, because Debian's python3-plotly (12 and 13) has only the full
plotly.js: 8.6 MB in each report, without tables, a print style or keyboard control.
"""
