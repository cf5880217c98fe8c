"""Where a model's annotations and readouts lie: their first two principal components."""

from __future__ import annotations

import matplotlib.pyplot as plt
from matplotlib.figure import Figure

from charts import Json
from paper import WIDTHS

PARTS = {"annotations": "position in the source", "readouts": "position in the target"}


def draw_states(states: Json, width: str) -> Figure:
    """A point a vector, coloured by its position; an axis names the share of the variance that it explains."""
    parts = {name: of for name, of in PARTS.items() if len(states[name]["components"]) > 1}
    total = WIDTHS[width]
    figure, axes = plt.subplots(1, len(parts), figsize=(total, 0.55 * total), layout="constrained", squeeze=False)
    for axis, (name, colour) in zip(axes[0], parts.items()):
        found = states[name]
        points = axis.scatter(*found["components"][:2], c=found["position"], s=3, cmap="viridis", linewidths=0)
        axis.set_title(name)
        axis.set_xlabel(f"component 1 ({100 * found['explained'][0]:.0f} %)")
        axis.set_ylabel(f"component 2 ({100 * found['explained'][1]:.0f} %)")
        figure.colorbar(points, ax=axis, label=colour, location="bottom")
    return figure
