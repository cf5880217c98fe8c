"""Writes table.h5 of a study: the counts per test sentence from which its claims, tables and finding were computed."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import h5py
import numpy as np
from recompute import MEASUREMENT, METRICS

from softalign_tools.charts import Json
from softalign_tools.program import RecordError


def write_table(study: Json, data: Json, finding: str, file: Path) -> None:
    """Writes the inputs of claims, tables and finding: /test_sets/HASH has lengths and clusters, /runs/PART/VARIANT/SEED the counts per
    sentence that their metrics read, and the arrays of diagnostics with the positions along their axis."""
    claimed = {found[1] for text in (*(claim["claim"] for claim in study["claims"]), finding) for found in MEASUREMENT.finditer(text)}
    read = {run["run_id"]: run for run in data["runs"]}
    with h5py.File(file, "w", libver=("v110", "v110")) as table:  # half the size: smaller headers
        for run in (run for run in study["runs"] if run["state"] == "complete" and run["run_id"] in read):
            metrics = claimed | {shown["metric"] for shown in study["tables"] if shown["part"] == run["part"]}
            columns = sorted({column for metric in metrics if metric in METRICS for column in METRICS[metric][0]})
            test_set = read[run["run_id"]]["test_set"]
            with h5py.File(Path(data["place"]) / run["path"] / "run.h5") as record:
                for column in sorted({"source_length", "cluster"} & set(record["test"])):
                    values = record["test"][column][:]
                    if (place := f"test_sets/{test_set}/{column}") not in table:
                        compact(table, place, values)
                    elif not np.array_equal(table[place], values):
                        raise RecordError(f"{record.filename}: its test sentences have another {column} than in other parts, which the page cannot show")
                group = table.create_group(f"runs/{run['part']}/{run['variant']}/{run['seed']}")
                group.attrs["test_set"] = test_set
                for column in columns:
                    if column in record["test"]:
                        compact(group, column, record["test"][column][:])
                for array in sorted(metric for metric in claimed if "." in metric):
                    if (found := diagnosed(record, array)) is not None:
                        group[array] = found[0]
                        if found[1] is not None:
                            group[array].attrs["places"] = found[1]


def compact(group: Any, name: str, values: Any) -> None:
    if values.dtype.kind in "iu":
        values = values.astype(np.min_scalar_type(int(values.max(initial=0))))
    group.create_dataset(name, data=values, compression="gzip", compression_opts=9, shuffle=True)


def diagnosed(record: Any, name: str) -> tuple[Any, Any] | None:
    """Returns an array of a diagnostic, "flow.ratio" at its last update or "flow.start.ratio" at its first, and the positions along its axis; None if
    the run lacks the array, for example the contexts of a run without attention."""
    diagnostic, *start, array = name.split(".")
    splits = record.get("diagnostics", {}).get(diagnostic, {})
    found = next((splits[split] for split in ("test", "dev") if split in splits and not (start and splits[split]["update"][0])), {})
    if array not in found:
        return None
    axes = [dimension[0][:] for dimension in found[array].dims][1:]
    return np.atleast_1d(found[array][0 if start else -1]), axes[0] if axes else None
