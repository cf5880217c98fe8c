"""Records made for tests, in the layout documented in results/record.md."""

import json
from pathlib import Path

import h5py
import numpy as np
import yaml

BUCKETS = ["1-10", "11-20", "21-30", "31-40", "41-50", "51-60"]
TEXT = h5py.string_dtype()
END = "</s>"
SPEC = """
name: toy-{score}
seed: {seed}
task: {{type: reverse, symbols: 32, length: {{train: [4, 30], dev: [4, 30], test: [4, 60]}}}}
model: {{attention: {attention}}}
"""


def write_record(folder: Path, score: str, seed: int = 1, lengths: tuple[int, ...] = (12, 44), state: str = "complete") -> Path:
    """Writes a record of `reverse` whose attention, if any, is the true alignment with some noise; returns its path.

    Sentences are numbered 5, 12, ... Only a "complete" record has test results; an "interrupted" one has a curve, one that has only "begun" has neither.
    """
    attends = score != "none"
    attention = f"{{type: global, score: {{type: {score}}}}}" if attends else "{type: none}"
    rng = np.random.default_rng(sum(score.encode()) + seed)
    (folder / f"{score}-{seed}").mkdir(parents=True)
    path = folder / f"{score}-{seed}/run.h5"
    with h5py.File(path, "w") as file:
        file.attrs["format"], file.attrs["run_id"] = np.bytes_("softalign-run"), np.bytes_(f"{score}-{seed}-{folder}")
        file.attrs["complete"], file.attrs["last_update"] = int(state == "complete"), 1750
        file.attrs["format_version"] = 1
        file.attrs["state"], file.attrs["name"] = np.bytes_(state if state == "complete" else "interrupted"), np.bytes_(f"toy-{score}")
        spec = SPEC.format(score=score, seed=seed, attention=attention)
        file["provenance/spec_yaml"], file["provenance/identity_json"] = spec, identity_of(spec)
        fall = np.array([1, 1, 0.99, 0.86, 0.54, 0.35]) if attends else np.array([0.9, 0.4, 0.19, 0.13, 0.1, 0.08])
        fall = fall ** rng.uniform(0.8, 1.6)
        if state == "begun":
            return path
        dev = file.create_group("dev")
        dev["update"] = np.arange(0, 2000, 250)
        dev["token_accuracy"] = 100 * fall[2] * (1 - np.exp(-np.arange(8) / 2))
        dev["perplexity"] = 32 * np.exp(-fall[2] * np.arange(8) / 3) + 1
        if attends:
            write_alignments(file.create_group("alignments/cross_dev"), (9,), rng)
        if state == "interrupted":
            return path
        test = file.create_group("test/by_length")
        test.create_dataset("label", data=BUCKETS, dtype=TEXT)
        test["bucket"], test["n"] = np.arange(6), np.array([121, 178, 180, 175, 174, 172])
        test["token_accuracy"] = 100 * fall
        test["bleu"], test["perplexity"] = 100 * fall**2, np.exp(4 * (1 - fall))
        file["test"].attrs.update({name: test[name][:].mean() for name in ("token_accuracy", "bleu", "perplexity")})
        if attends:
            write_alignments(file.create_group("alignments/cross"), lengths, rng)
    return path


def identity_of(spec: str) -> str:
    return json.dumps({key: value for key, value in yaml.safe_load(spec).items() if key != "name"})


def write_alignments(group: h5py.Group, lengths: tuple[int, ...], rng: np.random.Generator) -> None:
    """Writes the alignments of sentences of these lengths. The model reads and writes one more token, </s>."""
    size = max(lengths) + 1
    weights = np.full((1, len(lengths), 1, size, size), np.nan, np.float32)
    gold = np.zeros((len(lengths), size, size), np.uint8)
    source, target = np.full((2, len(lengths), size), "", dtype=object)
    for i, n in enumerate(lengths):
        aligned = np.zeros((n + 1, n + 1))
        aligned[:n, :n], aligned[n, n] = np.eye(n)[::-1], 1
        haze = rng.random((n + 1, n + 1)) ** 6 + 4 * aligned
        weights[0, i, 0, : n + 1, : n + 1] = haze / haze.sum(1, keepdims=True)
        gold[i, :n, :n] = 2 * aligned[:n, :n]
        words = [f"s{k}" for k in rng.integers(0, 32, n)]
        source[i, : n + 1], target[i, : n + 1] = [*words, END], [*words[::-1], END]
    group["update"], group["head"] = [1750], np.zeros(1, np.int32)
    group["sentence"] = np.arange(5, 5 + 7 * len(lengths), 7, dtype=np.int32)
    group["src_len"], group["tgt_len"] = np.array(lengths, np.int32) + 1, np.array([lengths], np.int32) + 1
    group.create_dataset("src_tokens", data=source, dtype=TEXT)
    group.create_dataset("tgt_tokens", data=target[None], dtype=TEXT)
    group["weights"], group["gold"] = weights, gold


def write_images(path: Path, split: str, side: int, height: int, levels: int = 5) -> list[np.ndarray]:
    """Turns the sources of a record into images whose cells of `side` pixels are the source positions; numbers the sentences from 0.

    Returns their ink, [height, width]. The last source position, </s>, has no cell.
    """
    with h5py.File(path, "a") as file:
        module = file["alignments/cross" if split == "test" else "alignments/cross_dev"]
        module["sentence"][:] = np.arange(len(module["sentence"]))
        rows = height // side
        widths = (module["src_len"][:] - 1) // rows * side
        rng = np.random.default_rng(3)
        grey = [rng.integers(0, levels, (height, width)) for width in widths]
        pixels = np.zeros((len(widths), height * widths.max()), np.uint8)
        for row, image in zip(pixels, grey):
            row[: image.size] = image.T.ravel()
        at = np.arange(pixels.shape[1])
        group = file.create_group(f"images/{split}")
        group["pixels"], group["width"] = pixels, widths.astype(np.int32)
        group["position"] = (at // height // side * rows + at % height // side).astype(np.int32)
        group.attrs["height"], group.attrs["levels"] = height, levels
    return [image / (levels - 1) for image in grey]


def write_rest(path: Path) -> Path:
    """Adds the other contents of a complete record to one of write_record: provenance, attempts, events, counts of sentences, signatures."""
    rng = np.random.default_rng(7)
    with h5py.File(path, "a") as file:
        about = {"state": "complete", "name": "toy", "framework_version": "1.0"}
        about_provenance = {"host": "here", "cpu_model": "one", "compiler": "gcc", "flags": "-O2", "git_commit": "abc", "started": "now"}
        file.attrs.update({key: np.bytes_(text) for key, text in about.items()} | {"parameters": 12345})
        provenance = file["provenance"]
        provenance.attrs.update({key: np.bytes_(text) for key, text in about_provenance.items()} | {"cpus": 2, "git_dirty": 0})
        provenance["identity_json"][()] = json.dumps(
            json.loads(provenance["identity_json"].asstr()[()]) | {"files": {"train": "sha256:0123"}}
        )
        provenance["early_termination"] = '{"decisions": []}'
        for group, column, number in (("attempts", "state", "attempt"), ("events", "text", "attempt")):
            provenance[f"{group}/{number}"] = [1]
            provenance.create_dataset(f"{group}/{column}", data=["complete"], dtype=TEXT)
        for split in ("train", "dev", "test"):
            file.create_group(f"data/{split}").attrs.update({"read": 20, "kept": 18, "dropped_too_long": 2, "truncated": 0})
        dev, test, n = file["dev"], file["test"], 12
        dev["loss"], dev["wall_time"] = np.log(dev["perplexity"]), np.arange(8.0)
        for name in ("source", "reference"):
            test.create_dataset(name, data=["a b"] * n, dtype=TEXT)
        test["source_length"] = rng.integers(4, 60, n).astype(np.int32)
        for name in ("correct_tokens", "exact", "free_running_hits", "pointing_hits"):
            test[name] = rng.integers(0, 2, n).astype(np.int32)
        for name in ("target_tokens", "free_running_positions", "pointing_tokens"):
            test[name] = np.full(n, 9, np.int32)
        test["nll"], test["bleu_stats"] = rng.random(n), rng.integers(0, 9, (n, 10)).astype(np.int32)
        test.attrs.update({"token_accuracy": 50.0, "bleu": 12.5, "perplexity": 1.5, "selected_update": 1750})
        test["by_length/bleu"].attrs["signature"] = np.bytes_("BLEU|tok:none")
        test["by_length/bucket"].make_scale("bucket")
        test["by_length/bleu"].dims[0].attach_scale(test["by_length/bucket"])  # as in every record: an attribute with HDF5 references
        for module in file["alignments"].values():
            module["entropy"] = np.where(np.isnan(module["weights"][..., 0]), np.nan, 1.0).astype(np.float32)
    return path


def change_spec(path: Path, old: str, new: str) -> Path:
    with h5py.File(path, "a") as file:
        spec = file["provenance/spec_yaml"].asstr()[()]
        assert old in spec
        file["provenance/spec_yaml"][()] = spec = spec.replace(old, new)
        try:
            file["provenance/identity_json"][()] = identity_of(spec)
        except (yaml.YAMLError, ValueError, TypeError, AttributeError, RecursionError):
            pass  # not a spec any more
    return path
