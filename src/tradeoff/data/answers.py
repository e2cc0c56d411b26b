r"""Answers with their prompts: JSON lines, chats, and logs of evaluation tools.

A row is an object with a prompt and one answer (`response`, `answer`, `completion`, `output` or
`text`) or a list of them (`responses`), or a chat (`messages`), whose last turn is the answer to
all turns before it. Logs of Inspect (``.json``, ``.eval``) and samples that lm-evaluation-harness
logs are read as they are written.
"""

from __future__ import annotations

import json
import zipfile
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from tradeoff.data.base import Broken, Kind, Sample
from tradeoff.data.reading import MOST_BYTES, check_regular, read_file, read_stream, reason, valid
from tradeoff.exceptions import InvalidInputError, UnreadableError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

__all__ = ["ANSWER_SUFFIXES", "Answers", "has_answers"]

ANSWER_SUFFIXES = (".jsonl", ".json", ".eval")
_ANSWERS = ("response", "responses", "answer", "answers", "completion", "output", "text")
_CHAT = "messages"


def has_answers(row: object) -> bool:
    """Whether a row of a list holds an answer by one of the usual names."""
    return isinstance(row, dict) and any(
        name in row and isinstance(row[name], (str, list)) for name in (*_ANSWERS, _CHAT)
    )


@dataclass(frozen=True, eq=False)
class Answers:
    r"""Answers of a file or of a list of rows; the label of each is its prompt.

    Args:
        rows: A file, or objects with a prompt and answers.
        name: Prefix of ids, where there is no file to name them after.
        prompt: Field that holds the prompt.
        answer: Field that holds the answer or a list of them; a usual name if not given.

    Example:
        >>> from tradeoff.data.answers import Answers
        >>> rows = [{"prompt": "Name a color.", "responses": ["Red.", "Blue."]}]
        >>> for item in Answers(rows, "model"):
        ...     print(item.id, item.content, item.label)
        model[0].0 Red. Name a color.
        model[0].1 Blue. Name a color.
    """

    kind: ClassVar[Kind] = "text"
    rows: Path | Sequence[Mapping[str, Any]]
    name: str = "answers"
    prompt: str = "prompt"
    answer: str | None = None

    def __iter__(self) -> Iterator[Sample | Broken]:
        found = False
        for name, row in self._rows():
            found = True
            try:
                prompt, answers, is_single = self._parts(row)
            except UnreadableError as error:
                yield Broken(name, str(error))
                continue
            for number, answer in enumerate(answers):
                key = name if is_single else f"{name}.{number}"
                yield _sample(key, answer, prompt)
        if not found:
            raise InvalidInputError(f"`{self._name}` must hold answers. Got none.")

    @property
    def _name(self) -> str:
        return self.name if isinstance(self.rows, (list, tuple)) else str(self.rows)

    def _rows(self) -> Iterator[tuple[str, Any]]:
        if isinstance(self.rows, (list, tuple)):
            for number, row in enumerate(self.rows):
                yield f"{self.name}[{number}]", row
            return
        path: Any = self.rows
        suffix = path.suffix.lower()
        name = valid(path.name)
        try:
            if suffix == ".eval":
                yield from _archive(path, name)
            elif suffix == ".json":
                document = _parsed(read_file(path, MOST_BYTES))
                for number, row in enumerate(_listed(document)):
                    yield f"{name}[{number}]", row
            else:
                check_regular(path)
                with path.open(encoding="utf-8-sig") as lines:
                    for number, line in enumerate(lines, 1):
                        if line.strip():
                            yield f"{name}:{number}", _line(line)
        except UnicodeDecodeError as error:
            raise InvalidInputError(f"`{path}` must be text in UTF-8. {error}.") from None
        except (UnreadableError, OSError) as error:
            raise InvalidInputError(f"`{path}` cannot be read. {_ended(reason(error))}") from None

    def _parts(self, row: Any) -> tuple[str, list[Any], bool]:
        """Prompt and answers of a row, and whether it can hold only one answer."""
        if not isinstance(row, dict):
            raise UnreadableError(row if isinstance(row, str) else "The row is not an object.")
        if "doc" in row and "arguments" in row:
            return _of_harness(row)
        if "input" in row and isinstance(row.get("output"), dict):
            return _of_inspect(row)
        if self.prompt not in row and isinstance(row.get(_CHAT), list):
            *asked, answered = row[_CHAT] or [None]
            return _said(asked), [_content(answered)], True
        if self.prompt not in row:
            raise UnreadableError(f"The row has no prompt under `{self.prompt}`.")
        names = _ANSWERS if self.answer is None else (self.answer,)
        name = next((one for one in names if one in row), None)
        if name is None:
            raise UnreadableError(f"The row has no answer under `{names[0]}`.")
        answers = row[name]
        many = isinstance(answers, list)
        return _prompt(row[self.prompt]), answers if many else [answers], not many


def _ended(text: str) -> str:
    return text if text.endswith(".") else f"{text}."


def _sample(name: str, answer: Any, prompt: str) -> Sample | Broken:
    if not isinstance(answer, str) or not answer.strip():
        return Broken(name, "The answer is empty or no text.")
    if answer != valid(answer):
        return Broken(name, "The text is not valid Unicode: it has half a surrogate pair.")
    return Sample(name, answer, valid(prompt))


def _line(line: str) -> Any:
    try:
        return json.loads(line)
    except ValueError:
        return "The line is not JSON."
    except RecursionError:
        return "The line is nested too deeply."


def _parsed(raw: bytes) -> Any:
    try:
        return json.loads(raw)
    except UnicodeDecodeError:
        raise
    except (ValueError, RecursionError) as error:
        raise UnreadableError(f"It must be JSON. {reason(error)}.") from None


def _listed(document: Any) -> list[Any]:
    """Rows of a document: a list, or the samples of a log of Inspect."""
    rows = document.get("samples") if isinstance(document, dict) else document
    if not isinstance(rows, list):
        raise UnreadableError("It must hold a list of answers, or be a log of Inspect.")
    return rows


def _archive(path: Path, name: str) -> Iterator[tuple[str, Any]]:
    """Samples of a log of Inspect in its own archive."""
    check_regular(path)
    try:
        with zipfile.ZipFile(path) as archive:
            entries = [one for one in archive.infolist() if one.filename.startswith("samples/")]
            for entry in sorted(entries, key=lambda one: one.filename):
                with archive.open(entry) as stream:
                    raw = read_stream(stream, MOST_BYTES, expected=entry.file_size)
                yield f"{name}/{valid(entry.filename)}", _parsed(raw)
    except NotImplementedError:
        raise UnreadableError(
            "Its entries are compressed by a method that this version of Python cannot read: write "
            "the log as JSON (`inspect log convert --to json`)."
        ) from None
    except (zipfile.BadZipFile, RuntimeError, EOFError) as error:
        raise UnreadableError(f"It must be a log of Inspect. {reason(error)}.") from None


def _prompt(value: Any) -> str:
    """A prompt as text; that of a chat is all that was said before the answer."""
    if isinstance(value, list):
        return _said(value)
    if isinstance(value, (str, int)) and str(value).strip():
        return str(value)
    raise UnreadableError("The prompt is empty or no text.")


def _said(turns: Sequence[Any]) -> str:
    said = "\n".join(_content(turn) for turn in turns)
    if not said.strip():
        raise UnreadableError("The chat has no prompt before its answer.")
    return said


def _content(turn: Any) -> str:
    """The text of a turn, of which the parts that are not text are left out."""
    content = turn.get("content") if isinstance(turn, dict) else None
    if isinstance(content, list):
        parts = (one.get("text") for one in content if isinstance(one, dict))
        content = "".join(part for part in parts if isinstance(part, str))
    if not isinstance(content, str):
        raise UnreadableError("A turn of the chat has no text.")
    return content


def _of_inspect(row: Mapping[str, Any]) -> tuple[str, list[Any], bool]:
    choices = row["output"].get("choices")
    if not isinstance(choices, list) or not choices:
        raise UnreadableError("The sample has no answer.")
    turns = [choice.get("message") if isinstance(choice, dict) else None for choice in choices]
    return _prompt(row["input"]), [_content(turn) for turn in turns], len(turns) == 1


def _of_harness(row: Mapping[str, Any]) -> tuple[str, list[Any], bool]:
    """A sample that lm-evaluation-harness logs: arguments of requests, and their answers."""
    arguments: Any = row["arguments"]
    first = next(iter(arguments.values()), None) if isinstance(arguments, dict) else arguments
    while isinstance(first, (list, dict)) and first:
        first = first[0] if isinstance(first, list) else next(iter(first.values()))
    answers: Any = row.get("resps")
    flat: list[Any] = []
    waiting = [answers]
    while waiting:
        one = waiting.pop(0)
        if isinstance(one, list):
            waiting = [*one, *waiting]
        else:
            flat.append(one)
    if not flat or not all(isinstance(one, str) for one in flat):
        raise UnreadableError("The sample holds no generated answers.")
    return _prompt(first), flat, len(flat) == 1
