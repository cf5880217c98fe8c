"""Export of runs to other tools: TensorBoard, MLflow, Weights & Biases, Parquet. Each needs the tool's own package."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from os import PathLike, fspath

from softalign_lab.runs import Run, Runs


def _numbers(run: Run) -> Iterator[tuple[int, float, dict[str, float]]]:
    """Yields (update, seconds, {"dev/loss": ...}) for every update with recorded numbers, in order."""
    steps: dict[int, tuple[float, dict[str, float]]] = {}
    for name in run.record.series_names():
        series = run.record.series(name)
        times = series.get("wall_time", [0.0] * len(series["update"]))
        for at, update in enumerate(series["update"]):
            values = {f"{name}/{column}": float(found[at]) for column, found in series.items() if column not in ("update", "wall_time")}
            before = steps.get(int(update), (float(times[at]), {}))
            steps[int(update)] = before[0], {**before[1], **{key: value for key, value in values.items() if value == value}}
    for update in sorted(steps):
        yield update, *steps[update]


def to_tensorboard(runs: Run | Iterable[Run], folder: str | PathLike) -> list[str]:
    """Writes event files of all series, one folder per run, for `tensorboard --logdir FOLDER`. Needs tensorboardX. Returns the folders."""
    from tensorboardX import SummaryWriter

    made = []
    for run in _each(runs):
        made.append(f"{fspath(folder)}/{run.name}-{run.run_id}")
        with SummaryWriter(made[-1]) as writer:
            for update, _, values in _numbers(run):
                for name, value in values.items():
                    writer.add_scalar(name, value, update)
            for name, value in run.metrics.items():
                writer.add_scalar(f"test/{name}", value, run.summary["updates"])
            writer.add_text("spec", f"```yaml\n{run.spec}\n```")
    return made


def to_mlflow(runs: Run | Iterable[Run], experiment: str = "softalign") -> list[str]:
    """Logs each run to MLflow at MLFLOW_TRACKING_URI: options, series, test metrics, the record as artifact. Returns the IDs of the MLflow runs."""
    import mlflow

    mlflow.set_experiment(experiment)
    made = []
    for run in _each(runs):
        with mlflow.start_run(run_name=f"{run.name} {run.run_id}", tags={"softalign.run_id": run.run_id, "softalign.state": run.state}) as started:
            mlflow.log_params(run.options)
            for update, _, values in _numbers(run):
                mlflow.log_metrics(values, step=update)
            mlflow.log_metrics({f"test/{name}": value for name, value in run.metrics.items()})
            mlflow.log_artifact(run.record.file)
            made.append(started.info.run_id)
    return made


def to_wandb(runs: Run | Iterable[Run], project: str = "softalign", folder: str | PathLike = "wandb") -> list[str]:
    """Logs each run to Weights & Biases, offline in `folder`; `wandb sync` uploads it. Returns the folders."""
    import wandb

    made = []
    for run in _each(runs):
        logged = wandb.init(project=project, id=run.run_id, name=f"{run.name} {run.run_id}", config=run.options, dir=fspath(folder), mode="offline", reinit=True)
        for update, _, values in _numbers(run):
            logged.log(values, step=update)
        logged.summary.update({f"test/{name}": value for name, value in run.metrics.items()})
        made.append(logged.dir)
        logged.finish()
    return made


def to_parquet(runs: Runs, folder: str | PathLike) -> list[str]:
    """Writes runs.parquet, curves.parquet and sentences.parquet, the tables of `Runs`. Needs pyarrow. Returns the files."""
    import pathlib

    place = pathlib.Path(folder)
    place.mkdir(parents=True, exist_ok=True)
    made = []
    for name, table in (("runs", runs.frame()), ("curves", runs.curves()), ("sentences", runs.sentences())):
        for column in table.columns[table.dtypes == object]:  # these may mix lists and numbers
            table[column] = table[column].map(lambda value: value if value is None or isinstance(value, str) else str(value))
        made.append(str(place / f"{name}.parquet"))
        table.to_parquet(made[-1])
    return made


def _each(runs: Run | Iterable[Run]) -> list[Run]:
    return [runs] if isinstance(runs, Run) else list(runs)
