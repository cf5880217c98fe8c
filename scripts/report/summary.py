"""What, where, when and by which code: the facts of a run, and those that several runs share or differ in."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from report.gather import Placed
from report.run import Recorded
from report.svg import counted

Fact = tuple[str, str]


def duration(seconds: float | None) -> str:
    if seconds is None:
        return ""
    if seconds < 60:
        return f"{seconds:.1f} s"
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes:02d} min" if hours else f"{minutes} min {rest:02d} s"


def code(recorded: Recorded) -> str:
    got = recorded.provenance
    commit = str(got.get("git_commit", ""))[:12]
    state = {0: "clean", 1: "with uncommitted changes (provenance/git_diff)"}.get(got.get("git_dirty"), "changes unknown")
    return f"softalign {recorded.root.get('framework_version', '?')}, " + (
        f"commit {commit}, {state}" if commit else "commit unknown"
    )


def machine(recorded: Recorded) -> str:
    got = recorded.provenance
    cpus = got.get("cpus")
    return ", ".join(str(part) for part in (got.get("cpu_model"), f"{cpus} CPUs" if cpus else "", got.get("kernel")) if part)


def data(recorded: Recorded) -> str:
    parts = []
    for split in ("train", "dev", "test"):
        counts = recorded.data.get(split, {})
        if "kept" in counts:
            lost = [
                f"{counts[k]} {k.replace('_', ' ')}" for k in ("dropped_too_long", "dropped_empty", "truncated") if counts.get(k)
            ]
            parts.append(f"{split} {counted(counts['kept'], 'sentence')}" + (f" ({', '.join(lost)})" if lost else ""))
    return "; ".join(parts)


def determinism(placed: Placed) -> str:
    """On what the bits depend, as far as the record knows."""
    recorded = placed.recorded
    got = recorded.provenance
    drift = [e["text"] for e in recorded.events if "drift" in str(e.get("text", ""))]
    text = f"seed {recorded.seed}, products by {got.get('gemm', '?')}"
    if placed.state in ("complete", "pruned"):
        text += f"; softalign verify {recorded.run_id} repeats it"
    return text + (f". DRIFT: {'; '.join(drift)}" if drift else "")


def attempts(placed: Placed) -> str:
    states = [row["state"] for row in placed.attempts]
    return f"{len(states)}: {', '.join(states)}" if states else ""


def run_facts(placed: Placed) -> list[Fact]:
    recorded = placed.recorded
    got = recorded.provenance
    selected = recorded.test.get("selected_update")
    facts = [
        ("run", f"{recorded.run.name} {recorded.run_id}"),
        ("state", f"{placed.state}, {counted(recorded.root.get('last_update', 0), 'update')}"),
        ("tested", f"the parameters of update {selected:,}" if selected is not None else ""),
        ("notes", str(recorded.run.spec.get("notes") or "")),
        ("tags", ", ".join(map(str, recorded.run.spec.get("tags") or []))),
        ("parameters", f"{recorded.root['parameters']:,}" if "parameters" in recorded.root else ""),
        ("data", data(recorded)),
        ("time", duration(recorded.seconds)),
        ("code", code(recorded)),
        ("built with", ", ".join(str(got[k]) for k in ("compiler", "flags") if got.get(k))),
        ("libraries", str(got.get("libs", ""))),
        ("plugins", "" if got.get("plugins") in (None, "[]", []) else str(got["plugins"])),
        ("machine", machine(recorded)),
        ("host", str(got.get("host", ""))),
        ("instruction sets", str(got.get("isa", ""))),
        ("started", str(got.get("started", ""))),
        ("attempts", attempts(placed)),
        ("determinism", determinism(placed)),
        ("spec", f"SHA-256 {got['spec_sha256']}" if got.get("spec_sha256") else ""),
    ]
    facts += [(k.replace("_", " "), str(v)) for k, v in got.items() if k.startswith("slurm") and v != ""]
    facts += [(f"signature of {name}", text) for name, text in recorded.signatures.items()]
    facts += [(f"data, {key}", text) for key, text in recorded.hashes]
    return [(name, text) for name, text in facts if text]


COMMON = ("code", "built with", "machine", "host", "instruction sets", "libraries", "data", "plugins")


def common_facts(runs: Sequence[Placed]) -> list[Fact]:
    """Of several runs: what they share, and how many runs there are of each value where they differ."""
    known_of, facts = [dict(run_facts(p)) for p in runs], []
    for name in COMMON:
        values = Counter(each.get(name, "") for each in known_of)
        known = {text: n for text, n in values.items() if text}
        if len(known) == 1 and len(values) == 1:
            facts.append((name, next(iter(known))))
        elif known:
            facts.append((name, " | ".join(f"{text} ({counted(n, 'run')})" for text, n in known.items())))
    total = [p.recorded.seconds for p in runs if p.recorded.seconds is not None]
    facts.append(("time", f"{duration(sum(total))} in all, {duration(sum(total) / len(total))} a run") if total else ("time", ""))
    started = sorted(str(p.recorded.provenance.get("started", "")) for p in runs)
    facts.append(("started", f"{started[0]} to {started[-1]}" if started and started[0] != started[-1] else "".join(started[:1])))
    signatures = {(name, text) for p in runs for name, text in p.recorded.signatures.items()}
    facts += [(f"signature of {name}", text) for name, text in sorted(signatures)]
    return [(name, text) for name, text in facts if text]
