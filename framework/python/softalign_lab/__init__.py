"""softalign in Python: run experiments, read their records, compare models, look at their attention.

    import softalign_lab as sa

    run = sa.run("configs/reverse.yaml", {"train.epochs": 2})
    run.test                                   # metrics by source length, a DataFrame
    run.translate(["a b c"])                   # the best hypothesis of each line
    run.alignment(0)                           # an xarray DataArray with words as coordinates
    sa.runs("results").frame()                 # all runs, their options and metrics
    sa.lengths("results", "bleu")              # a metric by source length over seeds, a matplotlib figure
    sa.heatmap(sa.sweep("sweep.yaml"))         # a metric over two parameters of a sweep
    sa.optimise(study, "sweep.yaml", 20)       # 20 trials of an Optuna study
    sa.plugin("angular.cpp")                   # your own score; in a notebook %load_ext softalign_lab, then a cell %%softalign

Every number is the program's own, as a command of `softalign` prints it. Python adds pandas, xarray and matplotlib. xarray, matplotlib and Optuna
are imported when they are first needed.
"""

from softalign_lab._core import DataError, Error, MachineError, SpecError
from softalign_lab.comparing import Comparison, compare
from softalign_lab.exporting import to_mlflow, to_parquet, to_tensorboard, to_wandb
from softalign_lab.figures import heatmap, lengths
from softalign_lab.models import Hypothesis
from softalign_lab.plugins import add_magic as load_ipython_extension
from softalign_lab.plugins import compile_plugin, load_plugin, plugin, plugins
from softalign_lab.runs import Run, Runs, runs
from softalign_lab.scores import Score
from softalign_lab.sweeping import Sweep, optimise, sweep
from softalign_lab.training import resolve, run

__all__ = [
    "Comparison", "DataError", "Error", "Hypothesis", "MachineError", "Run", "Runs", "Score", "SpecError", "Sweep",
    "compare", "compile_plugin", "heatmap", "lengths", "load_ipython_extension", "load_plugin", "optimise", "plugin", "plugins", "resolve",
    "run", "runs", "sweep", "to_mlflow", "to_parquet", "to_tensorboard", "to_wandb",
]  # fmt: skip
