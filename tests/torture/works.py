"""The works that are tortured: small runs of every kind, a sweep, a study, a recovery. Each produces records."""

from __future__ import annotations

import json
import random
from dataclasses import dataclass
from pathlib import Path

SPEC = """\
name: small
task:
  type: reverse
  symbols: 8
  length: {train: [2, 5], dev: [2, 5], test: [2, 5]}
  examples: {train: 32, dev: 6, test: 6}
"""
TEXT = """\
name: small
task:
  type: parallel_text
  train: {source: text.en, target: text.es}
  dev: {source: few.en, target: few.es}
  test: {source: few.en, target: few.es}
"""
MODEL = """\
model:
  embedding: 8
  encoder: {type: gru, units: 4}
  attention: {type: global, score: {type: additive, units: 8}}
  decoder: {type: attentional_gru, units: 8}
train:
  optimizer: {type: adam, learning_rate: 0.01}
  batch: {sentences: 8}
  epochs: 3
evaluate: {search: {type: greedy}}
record: {checkpoint_every: 3, alignments: 3, snapshots: 1}
"""
SWEEP = """\
name: small
base: small.yaml
parameters:
  model.attention.score.type: {values: [additive, dot]}
  train.epochs: {value: 2}
seeds: {count: 2}
metric: {name: dev/loss}
"""
STUDY = """\
name: small
question: Does it survive?
seeds: [1]
variants:
  additive: {model.attention.score.type: additive}
  dot: {model.attention.score.type: dot}
parts:
  reverse:
    base: small.yaml
    overrides: {train.epochs: 1}
    report: {metrics: [token_accuracy]}
claims:
  - claim: token_accuracy(reverse/additive) >= token_accuracy(reverse/dot)
    expect: open
"""

ENGLISH = ["the house is red", "the dog", "red dog", "a small house", "the dog is small"]
SPANISH = ["la casa es roja", "el perro", "perro rojo", "una casa pequeña", "el perro es pequeño"]


@dataclass(frozen=True)
class Work:
    """Commands that produce records; faults are injected into the first. Words may contain {inputs}, {out} and {run}, the folder of the run."""

    name: str
    commands: tuple[tuple[str, ...], ...]
    retry: tuple[str, ...] = ()  # the command that the program suggests when rows failed
    begins_with: str = ""  # starts from the finished folder of this work, without its records
    has_cache: bool = False
    many_runs: bool = False  # with several processes or runs, several lines may report errors

    def command(self, number: int | None, **folders: Path) -> list[str]:
        """Returns a command, or the retry if number is None, with the folders filled in."""
        words = list(self.retry if number is None else self.commands[number])
        for name, folder in folders.items():
            words = [word.replace("{" + name + "}", str(folder)) for word in words]
        return words


def run_of(name: str, *overrides: str, spec: str = "small.yaml", has_cache: bool = False) -> Work:
    """Returns the work of training one spec with overrides."""
    return Work(name, (("run", "{inputs}/" + spec, *overrides, "--threads", "1", "--results", "{out}"),), has_cache=has_cache)


PLAIN = run_of("plain")
# Works with a fault at every call.
WORKS: dict[str, Work] = {
    work.name: work
    for work in (
        PLAIN,
        run_of("averaging", "train.average={type: last, epochs: 2}"),
        run_of(
            "early",
            "train.early_stopping={metric: dev/token_accuracy, patience: 1}",
            "train.epochs=9",
            "train.optimizer.learning_rate=0.1",
        ),
        run_of("text", spec="text.yaml", has_cache=True),
        run_of("sampling", "evaluate.search={type: sample, samples: 3}", "train.scheduled_sampling={type: inverse_sigmoid, k: 20}"),
        run_of(
            "transformer",
            "model.decoder={type: transformer, units: 8}",
            "model.attention=built_in",
            "model.encoder={type: self_attention, units: 8}",
            "train.schedule={type: noam}",
        ),
        Work(
            "sweep",
            (("sweep", "run", "{inputs}/sweep.yaml", "--workers", "2", "--results", "{out}"),),
            retry=("sweep", "retry", "{out}/small"),
            many_runs=True,
        ),
        Work("study", (("study", "{inputs}/study.yaml", "--threads", "1", "--results", "{out}"),), many_runs=True),
        Work("recover", (("recover", "{run}"), *PLAIN.commands), begins_with="plain"),
    )
}
# More works that are killed at random moments.
MORE_WORKS: dict[str, Work] = {
    work.name: work
    for work in (
        run_of("exponential", "train.average={type: exponential, decay: 0.9}"),
        run_of("best", "train.average={type: best, epochs: 2}"),
        run_of("plateau", "train.schedule={type: plateau, patience: 0}", "train.epochs=5"),
        run_of("accumulate", "train.scheduled_sampling={type: linear, k: 1, slope: 0.01, feed: argmax}", "train.accumulate=2"),
        run_of("dropout", "model.dropout={embeddings: 0.2, outputs: 0.2, words: 0.1}", "model.encoder.layers=2"),
        run_of("momentum", "train.optimizer={type: sgd, learning_rate: 0.1, momentum: 0.9}", "train.max_updates=7"),
        run_of("adadelta", "train.optimizer={type: adadelta}", "train.label_smoothing=0.1"),
        run_of("hard", "model.attention=hard"),
        run_of("baseline", "evaluate.baselines=[ibm_model1]", spec="text.yaml", has_cache=True),
        run_of("shared", "task.vocabulary.shared=true", "model.tied_embeddings=all", "model.decoder.readout_units=8", spec="text.yaml", has_cache=True),
    )
}


def write_inputs(folder: Path) -> None:
    """Writes the specs and corpora that the works read."""
    folder.mkdir(parents=True)
    (folder / "small.yaml").write_text(SPEC + MODEL)
    (folder / "text.yaml").write_text(TEXT + MODEL)
    (folder / "sweep.yaml").write_text(SWEEP)
    (folder / "study.yaml").write_text(STUDY)
    for language, sentences in (("en", ENGLISH), ("es", SPANISH)):
        (folder / f"text.{language}").write_text("\n".join(sentences * 6) + "\n")
        (folder / f"few.{language}").write_text("\n".join(sentences) + "\n")


# Values in claims of other machines, of future versions, or of unknown origin, which this machine does not write.
HOSTILE_VALUES = (None, True, -1, 0, 2**63, 1e300, "", "elsewhere", "\x1b[31mevil\x1b[0m", "x" * 100_000, "a\nb\u202e", [], {}, [[]])


def hostile_claim(claim: dict[str, object], chance: random.Random) -> bytes:
    """Returns a claim that no softalign wrote."""
    how = chance.randrange(5)
    if how == 0:
        return chance.choice([b"", b"{}", b"[]", b"null", b"3", b'{"host":', b"\xff\xfe\x00", b"[" * 10_000, b"\0" * 512])
    if how == 1:
        whole = json.dumps(claim).encode()
        return whole[: chance.randrange(len(whole))]
    changed = dict(claim)
    for _ in range(chance.randint(1, 3)):
        key = chance.choice(sorted(claim))
        if how == 2:
            changed.pop(key, None)
        else:
            changed[key] = chance.choice(HOSTILE_VALUES)
    if how == 4:  # a machine that cannot be reached
        changed |= {"boot_id": "another", "machine_id": "another", "host": chance.choice(["elsewhere", "\x1b]0;evil\x07"])}
    return json.dumps(changed).encode()
