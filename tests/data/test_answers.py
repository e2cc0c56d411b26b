"""Answers with their prompts: rows, chats, and logs that other tools wrote."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path
from typing import Any

import pytest

from tradeoff.data import Broken, Sample
from tradeoff.data.answers import Answers
from tradeoff.exceptions import InvalidInputError

LOGS = Path(__file__).parent / "logs"
ASKED = "Write a metaphor about time."


def _told(rows: Any, **options: Any) -> list[tuple[str, str | None]]:
    found = list(Answers(rows, **options))
    assert all(isinstance(one, Sample) for one in found), found
    return [(str(one.content), one.label) for one in found if isinstance(one, Sample)]


def test_rows_with_one_answer_and_with_several():
    rows = [
        {"prompt": "a", "response": "one"},
        {"prompt": "b", "responses": ["two", "three"]},
        {"prompt": ["not a chat"], "response": "never"},
    ]
    found = list(Answers(rows, "model"))
    assert [(one.id, one.content, one.label) for one in found[:3]] == [
        ("model[0]", "one", "a"),
        ("model[1].0", "two", "b"),
        ("model[1].1", "three", "b"),
    ]
    assert isinstance(found[3], Broken)
    assert found[3].reason == "A turn of the chat has no text."


def test_other_names_of_fields():
    rows = [{"question": "a", "reply": "one", "response": "never"}]
    assert _told(rows, prompt="question", answer="reply") == [("one", "a")]


def test_the_last_turn_of_a_chat_answers_those_before():
    parts = [{"type": "text", "text": "Be brief."}, {"type": "image_url", "image_url": "x"}]
    chat = [
        {"role": "system", "content": parts},
        {"role": "user", "content": "Hello?"},
        {"role": "assistant", "content": "Yes."},
    ]
    assert _told([{"messages": chat}]) == [("Yes.", "Be brief.\nHello?")]
    assert _told([{"prompt": chat[:2], "response": "No."}]) == [("No.", "Be brief.\nHello?")]


def test_a_log_of_inspect():
    found = _told(LOGS / "inspect.json")
    assert len(found) == 4
    assert found[0] == ("A sunset is a slow goodbye.", ASKED)
    assert {prompt for _, prompt in found} == {ASKED, "Write a metaphor about winter."}


def test_an_archive_of_inspect(tmp_path: Path):
    samples = json.loads((LOGS / "inspect.json").read_text())["samples"]
    path = tmp_path / "log.eval"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("header.json", "{}")
        for one in samples:
            archive.writestr(f"samples/{one['id']}_epoch_{one['epoch']}.json", json.dumps(one))
    assert sorted(_told(path)) == sorted(_told(LOGS / "inspect.json"))


def test_samples_that_lm_evaluation_harness_logs():
    found = _told(LOGS / "harness.jsonl")
    assert found[:2] == [("lol", ASKED), ("lol", ASKED)]
    assert len(found) == 4


@pytest.mark.parametrize(
    ("row", "reason"),
    [
        ({"response": "x"}, "The row has no prompt under `prompt`."),
        ({"prompt": "x"}, "The row has no answer under `response`."),
        ({"prompt": "x", "response": 3}, "The answer is empty or no text."),
        ({"prompt": "", "response": "x"}, "The prompt is empty or no text."),
        ({"prompt": "x", "response": "\ud800"}, "The text is not valid Unicode"),
        ({"messages": []}, "The chat has no prompt before its answer."),
        ({"input": "x", "output": {"choices": []}}, "The sample has no answer."),
        ({"doc": 1, "arguments": [["x"]], "resps": [[[-1.0, True]]]}, "no generated answers."),
    ],
)
def test_a_row_that_says_too_little_is_broken(row: dict[str, Any], reason: str):
    (found,) = Answers([row])
    assert isinstance(found, Broken)
    assert reason in found.reason


@pytest.mark.parametrize(
    ("name", "content", "sentence"),
    [
        ("a.json", b"{", "cannot be read. It must be JSON."),
        ("a.json", b"[" * 100_000, "cannot be read. It must be JSON."),
        ("a.json", b'{"rows": []}', "It must hold a list of answers, or be a log of Inspect."),
        ("a.json", b"\xff", "must be text in UTF-8."),
        ("a.json", b"[]", "must hold answers. Got none."),
        ("a.eval", b"PK", "It must be a log of Inspect."),
    ],
)
def test_a_file_that_holds_no_answers(tmp_path: Path, name: str, content: bytes, sentence: str):
    path = tmp_path / name
    path.write_bytes(content)
    with pytest.raises(InvalidInputError, match=sentence.replace(".", r"\.")):
        list(Answers(path))


def test_lines_that_are_no_objects_are_broken(tmp_path: Path):
    path = tmp_path / "a.jsonl"
    path.write_text('{"prompt": "a", "response": "b"}\n\nnonsense\n[1]\n' + "[" * 100_000)
    sample, *rest = Answers(path)
    assert isinstance(sample, Sample)
    assert [one.reason for one in rest if isinstance(one, Broken)] == [
        "The line is not JSON.",
        "The row is not an object.",
        "The line is nested too deeply.",
    ]
