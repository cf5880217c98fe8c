"""Findings of studies, wherever they are repeated."""

import pytest
from softalign_tools.study_findings import relinked


@pytest.mark.parametrize(
    "link, moved",
    [
        ("[`bible.yaml`](bible.yaml)", "[`bible.yaml`](../../../experiments/scores/bible.yaml)"),
        ("[speed](../speed/README.md#one-row)", "[speed](../../../experiments/speed/README.md#one-row)"),
        ("[results](../../results/README.md)", "[results](../../README.md)"),
        ("[a page](https://example.org/a.md), [below](#claims)", None),
        ("`bleu[31+](bible/dot)`", None),
    ],
)
def test_links_lead_where_they_led(link: str, moved: str | None):
    assert relinked(f"See {link}.", "experiments/scores", "results/studies/scores") == f"See {moved or link}."
