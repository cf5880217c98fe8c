"""The facts of a run (its data, time, code and machine), and those that several runs share or differ in."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from softalign_tools.charts import Json
from softalign_tools.report.svg import counted

Fact = tuple[str, str]


def duration(seconds: float | None) -> str:
    if seconds is None:
        return ""
    if seconds < 60:
        return f"{seconds:.1f} s"
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes:02d} min" if hours else f"{minutes} min {rest:02d} s"


def code(run: Json) -> str:
    got = run["record"]["provenance"]
    commit = str(got.get("git_commit", ""))[:12]
    state = {0: "clean", 1: "with uncommitted changes (provenance/git_diff)"}.get(got.get("git_dirty"), "changes unknown")
    return f"softalign {run['record']['version']}, " + (f"commit {commit}, {state}" if commit else "commit unknown")


def machine(run: Json) -> str:
    got = run["record"]["provenance"]
    cpus = got.get("cpus")
    return ", ".join(str(part) for part in (got.get("cpu_model"), f"{cpus} CPUs" if cpus else "", got.get("kernel")) if part)


def data(run: Json) -> str:
    parts = []
    for split, counts in run["record"]["data"].items():
        if "kept" in counts:
            lost = [
                f"{counts[k]} {k.replace('_', ' ')}" for k in ("dropped_too_long", "dropped_empty", "truncated") if counts.get(k)
            ]
            lost += [
                f"{file['option'].partition('.')[2]} {100 * file['unknown'] / file['symbols']:.1f} % unknown, "
                f"{file['unknown_types']} of {counted(file['types'], 'type')}"
                for file in run["record"]["files"]
                if file["option"].startswith(f"{split}.") and 0 < file["unknown"] <= file["symbols"]
            ]
            parts.append(f"{split} {counted(counts['kept'], 'sentence')}" + (f" ({'; '.join(lost)})" if lost else ""))
    return "; ".join(parts)


def determinism(run: Json) -> str:
    """Returns the facts on which the run's bits depend, as far as they are recorded."""
    drift = [e["text"] for e in run["record"]["events"] if "drift" in e.get("text", "")]
    text = f"seed {run['seed']}, products by {run['record']['provenance'].get('gemm', '?')}"
    if run["state"] in ("complete", "pruned"):
        text += f"; softalign verify {run['run_id']} repeats it"
    return text + (f". DRIFT: {'; '.join(drift)}" if drift else "")


def signatures(run: Json) -> list[Fact]:
    return sorted(run["signatures"].items())


def run_facts(run: Json) -> list[Fact]:
    record = run["record"]
    got, states = record["provenance"], [attempt["state"] for attempt in record["attempts"]]
    selected, parameters = record["selected_update"], record["parameters"]
    facts = [
        ("run", f"{run['name']} {run['run_id']}"),
        ("state", f"{run['state']}, {counted(run['last_update'], 'update')}"),
        ("tested", "" if selected is None else f"the parameters of update {selected:,}"),
        ("notes", record["notes"]),
        ("tags", ", ".join(record["tags"])),
        ("parameters", "" if parameters is None else f"{parameters:,}"),
        ("data", data(run)),
        ("time", duration(record["seconds"])),
        ("code", code(run)),
        ("built with", ", ".join(str(got[k]) for k in ("compiler", "flags") if got.get(k))),
        ("libraries", str(got.get("libs", ""))),
        ("plugins", "" if got.get("plugins") in (None, "[]") else str(got["plugins"])),
        ("machine", machine(run)),
        ("host", str(got.get("host", ""))),
        ("instruction sets", str(got.get("isa", ""))),
        ("started", str(got.get("started", ""))),
        ("attempts", f"{len(states)}: {', '.join(states)}" if states else ""),
        ("determinism", determinism(run)),
        ("spec", f"SHA-256 {got['spec_sha256']}" if got.get("spec_sha256") else ""),
    ]
    facts += [(k.replace("_", " "), str(v)) for k, v in got.items() if k.startswith("slurm") and v != ""]
    facts += [(f"signature of {name}", text) for name, text in signatures(run)]
    facts += [(f"data, {key}", text) for key, text in record["hashes"]]
    return [(name, text) for name, text in facts if text]


COMMON = ("code", "built with", "machine", "host", "instruction sets", "libraries", "data", "plugins")


def common_facts(runs: Sequence[Json]) -> list[Fact]:
    """Returns the facts that runs share, and for a fact in which they differ the number of runs with each value."""
    known_of, facts = [dict(run_facts(run)) for run in runs], []
    for name in COMMON:
        values = Counter(each.get(name, "") for each in known_of)
        known = {text: n for text, n in values.items() if text}
        if len(known) == 1 and len(values) == 1:
            facts.append((name, next(iter(known))))
        elif known:
            facts.append((name, " | ".join(f"{text} ({counted(n, 'run')})" for text, n in known.items())))
    total = [run["record"]["seconds"] for run in runs if run["record"]["seconds"] is not None]
    facts.append(("time", f"{duration(sum(total))} in all, {duration(sum(total) / len(total))} a run") if total else ("time", ""))
    started = sorted(str(run["record"]["provenance"].get("started", "")) for run in runs)
    facts.append(("started", f"{started[0]} to {started[-1]}" if started and started[0] != started[-1] else "".join(started[:1])))
    facts += [(f"signature of {name}", text) for name, text in sorted({one for run in runs for one in signatures(run)})]
    return [(name, text) for name, text in facts if text]
