"""Diagnostics in a record equal those that NumPy computes from its parameters and sentences."""

from __future__ import annotations

import json
from collections.abc import Callable
from itertools import product
from pathlib import Path
from typing import Any

import pytest

from command_line import TINY, answer, error, softalign, trained_run

h5py = pytest.importorskip("h5py", reason="python3-h5py is not installed")
np = pytest.importorskip("numpy", reason="python3-numpy is not installed")

START = 1
SPEC = """\
name: tiny
task:
  type: copy
  symbols: 6
  length: {train: [2, 6], dev: [2, 8], test: [2, 8]}
  examples: {train: 256, dev: 40, test: 60}
model:
  embedding: 5
  encoder: {type: rnn, units: 7, direction: forward}
  attention: {type: global, score: {type: general}}
  decoder: {type: attentional_gru, units: 6, readout: tanh, readout_units: 4}
train:
  optimizer: {type: adam, learning_rate: 0.01}
  batch: {sentences: 16}
  epochs: 2
record: {snapshots: 40}
diagnostics:
  gradient_flow: {longest: 5}
  bottleneck: {longest: 4, vectors: true}
  faithfulness: {sentences: 20, permutations: 3}
  attention_shape: {}
  cost: {sentences: 7}
"""
Weights = Callable[[int, Any], Any]


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("diagnostics")
    (folder / "tiny.yaml").write_text(SPEC)
    return trained_run(folder)


def sigmoid(x: Any) -> Any:
    return 1 / (1 + np.exp(-x))


def exported(run: Path) -> list[dict[str, Any]]:
    return json.loads(softalign("export", run, "--format", "json", cwd=run).stdout)


class Model:
    """The model of SPEC from its equations (Elman 1990; Bahdanau et al. 2015, appendix A; Luong et al. 2015), in double."""

    def __init__(self, file: Any) -> None:
        self.p = {name: d[:].astype(float) for name, d in file["parameters"].items() if not name.startswith("axis")}
        words = file["data/source_vocabulary"].asstr()[()].split("\n")[1:]
        self.words = {word: i for i, word in enumerate(["<unk>", "<s>", "</s>", *words])}

    def embedded(self, source: list[int]) -> Any:
        return self.p["source.embedding.E"][source]

    def annotations(self, x: Any, given: dict[int, Any]) -> Any:
        """given: annotations by position that replace computed ones."""
        p, states = self.p, []
        h = np.zeros(len(p["encoder.forward.U"]))
        for i, row in enumerate(x):
            h = np.tanh(row @ p["encoder.forward.input.W"] + p["encoder.forward.input.b"] + h @ p["encoder.forward.U"])
            h = given.get(i, h)
            states.append(h)
        return np.array(states)

    def start(self, h: Any) -> Any:
        return np.tanh(h[-1] @ self.p["decoder.start.W"] + self.p["decoder.start.b"])

    def decode(self, h: Any, target: list[int], change: Weights = lambda _, w: w) -> tuple[Any, Any]:
        """Returns log probabilities [T,V] and weights [T,S] with a forced target."""
        p, s, before, rows, weights, self.readouts = self.p, self.start(h), START, [], [], []
        units = len(s)
        for t, word in enumerate(target):
            e = h @ (s @ p["decoder.attention.score.project.W"])
            w = np.exp(e - e.max())
            weights.append(w / w.sum())
            c = change(t, weights[-1].copy()) @ h
            y = p["target.embedding.E"][before]
            r = np.concatenate([s, c]) @ p["decoder.readout.output.W"] + p["decoder.readout.output.b"] + y @ p["decoder.readout.symbol.W"]
            self.readouts.append(np.tanh(r))
            logits = np.tanh(r) @ p["projection.W"] + p["projection.b"]
            rows.append(logits - np.log(np.exp(logits - logits.max()).sum()) - logits.max())
            x = y @ p["decoder.input.W"] + p["decoder.input.b"] + c @ p["decoder.context.W"]
            gates = sigmoid(x[: 2 * units] + s @ p["decoder.U"])
            z, reset = gates[:units], gates[units:]
            s = (1 - z) * s + z * np.tanh(x[2 * units :] + (reset * s) @ p["decoder.U_candidate"])
            before = word
        return np.array(rows), np.array(weights)

    def loss(self, x: Any, target: list[int], given: dict[int, Any] | None = None, only: int | None = None) -> float:
        rows, _ = self.decode(self.annotations(x, given or {}), target)
        nll = -rows[np.arange(len(target)), target]
        return nll.sum() if only is None else nll[only]


def gradient(of: Callable[[Any], float], at: Any) -> Any:
    """Returns gradients by central differences."""
    out = np.zeros_like(at)
    for i in np.ndindex(at.shape):
        step = np.zeros_like(at)
        step[i] = 1e-5
        out[i] = (of(at + step) - of(at - step)) / 2e-5
    return out


def sentences(file: Any, module: str, model: Model) -> list[tuple[list[int], list[int]]]:
    group = file[f"alignments/{module}"]
    rows = zip(group["src_tokens"].asstr(), group["tgt_tokens"].asstr()[-1])
    return [([model.words[w] for w in s if w], [model.words[w] for w in t if w]) for s, t in rows]


def test_p_gen_is_the_gate_of_the_readout(tmp_path: Path) -> None:
    (tmp_path / "tiny.yaml").write_text(SPEC.partition("diagnostics:")[0] + "diagnostics:\n  p_gen: {longest: 4}\n")
    error("run", "tiny.yaml", cwd=tmp_path, code=2)  # a softmax copies nothing
    run = trained_run(tmp_path, "model.output={type: pointer_generator, gate: readout}")
    with h5py.File(run / "run.h5") as file:
        model, found = Model(file), file["diagnostics/p_gen/dev"]
        gates = []
        for source, target in sentences(file, "cross_dev", model):
            model.decode(model.annotations(model.embedded(source), {}), target)
            gates.append([sigmoid(r @ model.p["gate.readout.W"] + model.p["gate.readout.b"])[0] for r in model.readouts])
        assert len(gates) == 40 and found["mean"][-1] == pytest.approx(np.mean(np.concatenate(gates)), abs=1e-5)
        steps = [np.mean([gate[t] for gate in gates if t < len(gate)]) for t in range(4)]
        assert found["by_step"][-1] == pytest.approx(steps, abs=1e-5) and np.isnan(found["of_copied"][-1])
        assert {"train", "dev", "test"} == set(file["diagnostics/p_gen"])
    pointer = trained_run(tmp_path, "model.output=pointer")
    with h5py.File(pointer / "run.h5") as file:
        assert file["diagnostics/p_gen/test/mean"][:].tolist() == [0]


def test_gradient_flow_is_that_of_central_differences(run: Path) -> None:
    with h5py.File(run / "run.h5") as file:
        model, found = Model(file), file["diagnostics/gradient_flow/dev"]
        assert found["update"][:].tolist() == [0, 16, 32]
        assert found["embedding_by_distance"].dims[1][0].name.endswith("/distance")
        norms: dict[str, list[Any]] = {"embedding": [], "annotation": []}
        for source, target in sentences(file, "cross_dev", model):
            x = model.embedded(source)
            h = model.annotations(x, {})
            norms["embedding"].append(np.linalg.norm(gradient(lambda at: model.loss(at, target), x), axis=1))
            total = [gradient(lambda at: model.loss(x, target, {i: at}), h[i]) for i in range(len(source))]
            norms["annotation"].append(np.linalg.norm(total, axis=1))
        for name, lists in norms.items():
            for distance in range(5):
                expected = np.mean([n[-1 - distance] for n in lists if distance < len(n)])
                assert found[f"{name}_by_distance"][-1, distance] == pytest.approx(expected, rel=2e-3)
            tenths: list[list[float]] = [[] for _ in range(10)]
            for n in lists:
                for i, value in enumerate(n):
                    tenths[i * 10 // len(n)].append(value)
            expected = [np.mean(t) if t else np.nan for t in tenths]
            assert found[f"{name}_by_tenth"][-1] == pytest.approx(expected, rel=2e-3, nan_ok=True)
            long = [(n, -(-len(n) // 4)) for n in lists if len(n) >= 4]
            ratios = [np.log(n[:quarter].sum() / n[-quarter:].sum()) for n, quarter in long]
            assert found[f"{name}_far_to_near"][-1] == pytest.approx(np.exp(np.mean(ratios)), rel=2e-3)


def ridge_accuracy(z: Any, words: Any, ridge: float) -> float:
    """Returns the accuracy on every second vector, trained on the others."""
    taught, asked = z[::2], z[1::2]
    kinds = np.unique(words[::2])
    y = (words[::2, None] == kinds).astype(float)
    mean, share = taught.mean(axis=0), y.mean(axis=0)
    x = taught - mean
    penalty = ridge * (x**2).sum() / len(x)
    w = np.linalg.solve(x.T @ x + penalty * np.eye(x.shape[1]), x.T @ (y - share))
    return 100 * np.mean(kinds[((asked - mean) @ w + share).argmax(axis=1)] == words[1::2])


def test_the_bottleneck_is_that_of_a_ridge_regression(run: Path) -> None:
    with h5py.File(run / "run.h5") as file:
        model, found = Model(file), file["diagnostics/bottleneck/test"]
        pairs = sentences(file, "cross", model)
        h = [model.annotations(model.embedded(s), {}) for s, _ in pairs]
        states = np.array([model.start(one) for one in h])
        assert found["states"][-1] == pytest.approx(states, abs=1e-5)
        states = found["states"][-1]
        assert found["state_accuracy"].shape == (1, 4)
        for position in range(4):
            at = [i for i, (s, _) in enumerate(pairs) if position < len(s) - 1]
            words = np.array([pairs[i][0][position] for i in at])
            assert found["state_accuracy"][-1, position] == pytest.approx(ridge_accuracy(states[at], words, 0.01))
            most = np.bincount(words[::2]).argmax()
            assert found["most_frequent"][-1, position] == pytest.approx(100 * np.mean(words[1::2] == most))
            looked = [model.decode(h[i], pairs[i][1])[1] for i in at]
            contexts = np.array([(w[w[:, position].argmax()] @ h[i]) for w, i in zip(looked, at)])
            assert found["context_accuracy"][-1, position] == pytest.approx(ridge_accuracy(contexts, words, 0.01), abs=4)
        curve = found["state_accuracy_by_taught"][-1]
        assert curve[-1] == pytest.approx(np.nanmean(found["state_accuracy"][-1])) and found["taught"][:].tolist()[-1] == (len(pairs) + 1) // 2
        values = np.linalg.svd(states - states.mean(axis=0), compute_uv=False) / np.sqrt(len(states))
        assert found["state_singular_values"][-1] == pytest.approx(values, abs=1e-7)
        share = values / values.sum()
        assert found["state_effective_rank"][-1] == pytest.approx(np.exp(-(share * np.log(share)).sum()), rel=1e-6)


def kendall(a: Any, b: Any) -> float:
    x, y = np.sign(a[:, None] - a), np.sign(b[:, None] - b)
    return (x * y).sum() / np.sqrt((x != 0).sum() * (y != 0).sum())


def test_faithfulness_is_that_of_other_weights(run: Path) -> None:
    with h5py.File(run / "run.h5") as file:
        model, found = Model(file), file["diagnostics/faithfulness/test"]
        pairs = sentences(file, "cross", model)[:20]
        h = [model.annotations(model.embedded(s), {}) for s, _ in pairs]

        def erased(_: int, w: Any) -> Any:
            rest = np.where(np.arange(len(w)) == w.argmax(), 0, w)
            return rest * w.sum() / rest.sum()

        changes: dict[str, Weights] = {"own": lambda _, w: w, "uniform": lambda _, w: np.full_like(w, 1 / len(w)), "erased": erased}
        for name, change in changes.items():
            rows = [(model.decode(a, t)[0], model.decode(a, t, change)[0], np.array(t)) for a, (_, t) in zip(h, pairs)]
            if name != "own":
                distance = np.concatenate([np.abs(np.exp(p) - np.exp(q)).sum(axis=1) / 2 for p, q, _ in rows]).mean()
                flips = np.concatenate([p.argmax(axis=1) != q.argmax(axis=1) for p, q, _ in rows]).mean()
                assert found[f"{name}_distance"][0] == pytest.approx(distance, rel=1e-4)
                assert found[f"{name}_flips"][0] == pytest.approx(100 * flips)
            right = np.concatenate([q.argmax(axis=1) == t for _, q, t in rows]).mean()
            loss = np.concatenate([-q[np.arange(len(t)), t] for _, q, t in rows]).mean()
            assert found[f"{name}_accuracy"][0] == pytest.approx(100 * right)
            assert found[f"{name}_loss"][0] == pytest.approx(loss, rel=1e-4)
        for name in ("permuted", "erased_other"):
            assert 0 < found[f"{name}_distance"][0] < 1

        taus = []
        for (source, target), a in zip(pairs, h):
            x = model.embedded(source)
            weights = model.decode(a, target)[1]
            for t in range(len(target)):
                g = gradient(lambda at: model.loss(at, target, only=t), x)
                taus.append(kendall(weights[t], np.abs((g * x).sum(axis=1))))
        assert found["gradient_agreement"][0] == pytest.approx(np.mean(taus), abs=0.01)


def test_the_shape_of_attention_is_that_of_the_recorded_weights(run: Path) -> None:
    with h5py.File(run / "run.h5") as file:
        group, found = file["alignments/cross"], file["diagnostics/attention_shape/test"]
        assert file["diagnostics/attention_shape/dev/update"][:].tolist() == [0, 16, 32]
        coverage, forwards, end = [], [], []
        for i in range(group["sentence"].size):
            w = group["weights"][-1, i, 0, : group["tgt_len"][-1, i] - 1, : group["src_len"][i]].astype(float)
            coverage.append(np.minimum(1, w.sum(axis=0)[:-1]).mean())
            forwards.append(np.mean(np.diff(w @ np.arange(w.shape[1])) >= 0))
            end.append(w[:, -1].mean())
        for name, values in {"coverage": coverage, "monotonicity": forwards, "end_mass": end}.items():
            assert found[name][0] == pytest.approx(100 * np.mean(values), rel=1e-6)


def test_the_cost_is_that_of_the_equations(run: Path) -> None:
    with h5py.File(run / "run.h5") as file:
        model = Model(file)
        for split, module in (("test", "cross"), ("dev", "cross_dev")):
            found = file[f"diagnostics/cost/{split}"]
            sizes = [(len(s), len(t)) for s, t in sentences(file, module, model)[:7]]
            energies = [s * t for s, t in sizes]
            symbols = sum(t for _, t in sizes)
            # encoder: input, recurrent; decoder: start; a step: query, energies, context, input, recurrent, context, readout
            sources = sum(s * 5 * 7 + (s - 1) * 7 * 7 + 7 * 6 for s, _ in sizes)
            steps = symbols * (6 * 7 + 5 * 18 + 6 * 12 + 6 * 6 + 7 * 18 + 13 * 4 + 5 * 4) + sum(energies) * (7 + 7)
            assert found["energies"][0] == pytest.approx(np.mean(energies))
            assert found["without_projection"][0] == pytest.approx((sources + steps) / symbols)
            assert found["multiplications"][0] == pytest.approx((sources + steps) / symbols + 4 * 9)
        assert file["diagnostics/cost/train/activations"][0] > 0


def drawn(model: Model, source: list[int], target: list[int], positions: tuple[int, ...]) -> Any:
    """Returns (loss, log p(positions)) with the annotation at positions[t] as the context of step t."""
    looks = [np.eye(len(source))[s] for s in positions]
    rows, weights = model.decode(model.annotations(model.embedded(source), {}), target, lambda t, _: looks[t])
    return np.array([-rows[np.arange(len(target)), target].sum(), np.log([w[s] for w, s in zip(weights, positions)]).sum()])


def gradients_of_parameters(model: Model, of: Callable[[], Any]) -> Any:
    """Returns [len(of()), parameters] by central differences."""
    columns = []
    for weights in model.p.values():
        for i in np.ndindex(weights.shape):
            kept = weights[i]
            weights[i] = kept + 1e-5
            above = of()
            weights[i] = kept - 1e-5
            columns.append((above - of()) / 2e-5)
            weights[i] = kept
    return np.array(columns).T


@pytest.mark.parametrize("attention", ["global", "hard"])
def test_the_variance_of_the_gradient_is_that_of_all_sequences(attention: str, tmp_path: Path) -> None:
    lengths = "length: {train: [1, 3], dev: [1, 2], test: [1, 3]}"
    spec = SPEC.split("diagnostics:")[0].replace("length: {train: [2, 6], dev: [2, 8], test: [2, 8]}", lengths)
    spec = spec.replace("units: 7", "units: 3").replace("units: 6", "units: 2").replace("embedding: 5", "embedding: 3")  # few parameters
    spec = spec.replace("type: global", f"type: {attention}") + "diagnostics:\n  gradient_variance: {sentences: 3, most: 27}\n"
    (tmp_path / "tiny.yaml").write_text(spec)
    with h5py.File(trained_run(tmp_path) / "run.h5") as file:
        model, found = Model(file), file["diagnostics/gradient_variance/dev"]
        sums: dict[str, list[float]] = {}
        for source, target in sentences(file, "cross_dev", model)[:3]:
            draws = []
            for positions in product(range(len(source)), repeat=len(target)):
                loss, log_p = drawn(model, source, target, positions)
                of_loss, of_log_p = gradients_of_parameters(model, lambda: drawn(model, source, target, positions))
                draws.append((np.exp(log_p), loss, of_loss, of_log_p))
            x = model.embedded(source)
            average = gradients_of_parameters(model, lambda: np.array([model.loss(model.embedded(source), target)]))[0]
            p, losses, of_loss, of_log_p = (np.array(column) for column in zip(*draws))
            assert p.sum() == pytest.approx(1)
            whole = p @ (of_loss + losses[:, None] * of_log_p)
            baselines = {"none": 0, "expected": p @ losses}
            g = {name: of_loss + (losses - b)[:, None] * of_log_p for name, b in baselines.items()}
            variances = {name: p @ ((one - whole) ** 2).sum(axis=1) for name, one in g.items()}
            slope = p @ (g["none"] * of_log_p).sum(axis=1)
            variances["best"] = variances["none"] - slope**2 / (p @ (of_log_p**2).sum(axis=1))
            context = p @ of_loss
            measured = {f"variance_{name}": value for name, value in variances.items()} | {
                "variance_context": p @ ((of_loss - context) ** 2).sum(axis=1),
                "context_error": ((context - whole) ** 2).sum(),
                "average_error": ((average - whole) ** 2).sum(),
                "average_cosine": average @ whole / np.linalg.norm(average) / np.linalg.norm(whole),
                "expected_loss": p @ losses,
                "average_loss": model.loss(x, target),
                "squares": whole @ whole,
                "sequences": len(p),
                "symbols": len(target),
            }
            for name, value in measured.items():
                sums.setdefault(name, []).append(value)
        total = {name: np.sum(values) for name, values in sums.items()}
        assert found["sentences"][-1] == 3
        assert found["sequences"][-1] == total["sequences"] / 3
        assert found["gradient_norm"][-1] == pytest.approx(np.sqrt(total["squares"] / 3), rel=1e-4)
        assert found["average_cosine"][-1] == pytest.approx(total["average_cosine"] / 3, rel=1e-4)
        for name in ("expected_loss", "average_loss"):
            assert found[name][-1] == pytest.approx(total[name] / total["symbols"], rel=1e-4)
        for name in (*(f"variance_{one}" for one in (*baselines, "best", "context")), "context_error", "average_error"):
            assert found[name][-1] == pytest.approx(total[name] / total["squares"], rel=1e-3), name
        assert found["variance_best"][-1] < found["variance_none"][-1]


def test_a_diagnostic_changes_no_number_of_the_run(run: Path, tmp_path: Path) -> None:
    (tmp_path / "tiny.yaml").write_text(SPEC.split("diagnostics:")[0])
    without = trained_run(tmp_path)
    assert without.name != run.name
    with h5py.File(run / "run.h5") as one, h5py.File(without / "run.h5") as other:
        for name in ("parameters/decoder.U", "train/loss", "dev/loss", "test/nll"):
            assert np.array_equal(one[name][:], other[name][:])


def test_the_bits_of_diagnostics_come_again(run: Path) -> None:
    assert "the same bits again" in softalign("verify", run, "--threads", 3, cwd=run).stdout


def test_a_record_has_what_describe_lists(run: Path) -> None:
    with h5py.File(run / "run.h5") as file:
        for name, splits in file["diagnostics"].items():
            listed = {array["name"]: array for array in answer("describe", "diagnostic", name, cwd=run.parent)["arrays"]}
            for array, found in ((array, found) for split in splits.values() for array, found in split.items()):
                if h5py.h5ds.is_scale(found.id) or array == "states":  # which an option asks for
                    continue
                assert [found.attrs[key].decode() for key in ("long_name", "units")] == [listed[array][key] for key in ("long_name", "units")]
                assert [dim[0].name.split("/")[-1] for dim in found.dims][1:] == listed[array]["axes"]
    text = softalign("describe", "diagnostic", "cost", cwd=run.parent).stdout
    assert any(line.split()[:3] == ["activations", "byte", "bytes"] for line in text.splitlines())


def test_show_and_its_json_have_them(run: Path) -> None:
    assert "annotation_far_to_near" in softalign("show", run, cwd=run).stdout
    assert "embedding_by_distance" in softalign("show", run, "--diagnostic", "gradient_flow", cwd=run).stdout
    found = answer("show", run, "--diagnostic", "bottleneck", cwd=run)
    assert found["bottleneck"]["test"]["state_accuracy"]["axes"] == ["update", "position"]
    error("show", run, "--diagnostic", "botleneck", cwd=run, code=2)


def test_export_has_the_single_numbers(run: Path) -> None:
    (row,) = exported(run)
    with h5py.File(run / "run.h5") as file:
        group = file["diagnostics"]
        assert row["diagnostics/cost/energies"] == group["cost/test/energies"][-1]
        far_to_near = group["gradient_flow/dev/embedding_far_to_near"]
        assert (row["diagnostics/gradient_flow/start/embedding_far_to_near"], row["diagnostics/gradient_flow/embedding_far_to_near"]) == (far_to_near[0], far_to_near[-1])
    assert not any("by_distance" in column for column in row)


def test_a_loss_that_is_beyond_all_probabilities_is_finite(tmp_path: Path) -> None:
    wide = SPEC.replace("readout: tanh", "readout: linear").replace("train:\n", "  initialise: {type: uniform, scale: 12}\ntrain:\n  max_updates: 1\n")
    (tmp_path / "tiny.yaml").write_text(wide.replace("sentences: 20", "sentences: 60"))
    run = trained_run(tmp_path)
    with h5py.File(run / "run.h5") as file:
        own = file["diagnostics/faithfulness/test/own_loss"][-1]
    assert 750 < own == pytest.approx(exported(run)[0]["test/loss"], rel=1e-4)  # e^-750 is 0 in a double


def test_a_diagnostic_looks_into_a_model_that_reads_links(tmp_path: Path) -> None:
    (tmp_path / "tiny.yaml").write_text(TINY.replace("{type: global, score: {type: additive, units: 8}}", "true_alignment") + "diagnostics: {cost: {}, attention_shape: {}}\n")
    with h5py.File(trained_run(tmp_path) / "run.h5") as file:
        assert file["diagnostics/attention_shape/test/coverage"][-1] == 100
        assert file["diagnostics/cost/test/energies"][-1] == 0


WITHOUT_ATTENTION = TINY.replace("{type: global, score: {type: additive, units: 8}}", "none")


@pytest.mark.parametrize(
    "spec, diagnostic",
    [*((WITHOUT_ATTENTION, name) for name in ("faithfulness", "attention_shape", "gradient_variance")),
     (TINY, "bottleneck: {ridge: 1.0e-16}"), (TINY, "bottleneck: {sentences: 100001}"), (TINY, "gradient_flaw")],
)  # fmt: skip
def test_what_cannot_be_measured_is_refused_at_its_place(spec: str, diagnostic: str, tmp_path: Path) -> None:
    (tmp_path / "tiny.yaml").write_text(spec + f"diagnostics:\n  {diagnostic}{': {}' if ':' not in diagnostic else ''}\n")
    assert f"tiny.yaml:{2 + spec.count(chr(10))}:" in error("validate", "tiny.yaml", cwd=tmp_path, code=2)


def test_a_bottleneck_of_images_is_refused(tmp_path: Path) -> None:
    error("validate", Path(__file__).parents[2] / "results/published/images.yaml", "diagnostics={bottleneck: {}}", cwd=tmp_path, code=2)


def test_what_looks_at_a_model_names_no_run_that_has_another_name(tmp_path: Path) -> None:
    (tmp_path / "tiny.yaml").write_text(TINY)
    for changes in ["model.embedding=5"], ["diagnostics={cost: {}}"], ["model.embedding=6", "diagnostics={attention_shape: {}}"]:
        softalign("run", "tiny.yaml", *changes, cwd=tmp_path)
    assert "differs in" in (listed := softalign("ls", cwd=tmp_path).stdout) and "embedding=6" in listed and "cost" not in listed
    softalign("run", "tiny.yaml", cwd=tmp_path)  # as the second, but for what it looks at
    assert "cost.sentences=100" in softalign("ls", cwd=tmp_path).stdout


def test_a_block_of_no_diagnostics_is_none(tmp_path: Path) -> None:
    (tmp_path / "tiny.yaml").write_text(TINY)
    plans = [answer("run", "tiny.yaml", *more, "--dry-run", cwd=tmp_path) for more in ([], ["diagnostics={}"], ["diagnostics={cost: null}"])]
    assert len({plan["run_id"] for plan in plans}) == 1
