"""Workflows, pins and what the documentation says of them."""

import re
from pathlib import Path

import pytest

from tradeoff.features import offline

ROOT = Path(__file__).parents[2]
PUBLISHING = {("test-index", "id-token"), ("index", "id-token"), ("release", "contents")}
"""Jobs that may write, and what: none of them runs code of ours."""
WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))


@pytest.mark.skipif(not WORKFLOWS, reason="a source distribution has no workflows")
def test_actions_are_pinned_by_commit_and_may_only_read_but_to_publish():
    for path in WORKFLOWS:
        text = path.read_text(encoding="utf-8")
        actions = re.findall(r"uses: (.*)", text)
        assert actions
        for action in actions:
            assert re.fullmatch(r"[\w/-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+", action), action
        assert "permissions:\n  contents: read\n" in text
        jobs = re.split(r"^  (?=[\w-]+:$)", text.partition("jobs:\n")[2], flags=re.MULTILINE)
        writing = {
            (job.partition(":")[0], what)
            for job in jobs
            for what in re.findall(r"([\w-]+): write", job)
        }
        assert writing == (PUBLISHING if path.stem == "release" else set())


def test_the_documentation_states_the_hashes_that_are_checked():
    page = (ROOT / "docs" / "security.md").read_text(encoding="utf-8")
    assert offline._EFFICIENTNET in page
    assert offline._MINILM in page
