"""Answers of a language model to a hundred open questions, with exact probabilities.

SmolLM2-135M-Instruct answers each question several times at three temperatures, with at most 32
tokens. The log-probability of every token is known at all temperatures, so the true curve between
two of them is known for all prefixes. `python -m benchmarks.questions` draws them once, question by
question, and goes on after an interruption.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from benchmarks import datasets, generators
from benchmarks.textgenrnn import Knob
from tradeoff._progress import track

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["QUESTIONS", "TEMPERATURES", "Answered", "answered"]

TEMPERATURES = (0.3, 0.7, 1.0)
EACH, LONGEST = 32, 32
_ASKED = {
    "Give one metaphor for {}.": (
        "time, the sea, a city at night, anger, childhood, money, silence, the internet, old "
        "age, hope"
    ),
    "Invent a name for {}.": (
        "a small bakery, a pet dragon, a space station, a jazz band, a perfume, a village in "
        "the mountains, a robot that cooks, a mystery novel, a ferry, a new color"
    ),
    "Tell a short joke about {}.": (
        "cats, lawyers, the weather, a bad haircut, teachers, robots, pirates, coffee, "
        "airports, mathematicians"
    ),
    "Name three things that {}.": (
        "fit in a pocket, are hard to draw, smell of summer, make a noise, people collect, "
        "are older than books, float, nobody needs, break easily, wait for rain"
    ),
    "Write the first sentence of a story about {}.": (
        "a lighthouse, a lost key, two sisters, a train, the last library, a dog that talks, "
        "a flood, an empty theater, a letter, a long winter"
    ),
    "What would you take to {}?": (
        "a desert island, the moon, a picnic, a wedding, a cave, a concert, the mountains, a "
        "job interview, a boat trip, a friend in hospital"
    ),
    "Describe {} in one sentence.": (
        "a forest in autumn, your favorite meal, an angry neighbor, snow, a busy market, a "
        "quiet street, a storm, the taste of lemon, an old bridge, a perfect day"
    ),
    "Suggest a gift for {}.": (
        "a grandmother, a new colleague, a child of five, a gardener, a musician, someone who "
        "has everything, a student, a cook, a runner, a neighbor"
    ),
    "Why do people {}?": (
        "sing, travel, keep secrets, fear the dark, dance, tell lies, collect stamps, watch "
        "birds, get up early, write diaries"
    ),
    "Finish the sentence: {}": (
        "The best thing about rain is, Behind the door there was, My uncle always said, If I "
        "could fly, The robot wanted to, On Sundays we, Nobody knew that, The map showed, Far "
        "away from here, Before the war"
    ),
}
QUESTIONS = tuple(
    form.format(topic.strip()) for form, topics in _ASKED.items() for topic in topics.split(",")
)


class Answered(NamedTuple):
    """Answers to all questions at one temperature, question by question.

    Args:
        question: Number of the question of each answer.
        texts: The answers.
        tokens: Their tokens, shape (n, LONGEST); the end of a text fills the rest.
        log_probabilities: Of each token at each of `TEMPERATURES`, shape (3, n, LONGEST); 0 after
            the end.
    """

    question: np.ndarray
    texts: list[str]
    tokens: np.ndarray
    log_probabilities: np.ndarray

    def log_ratio(self, real: float, generated: float, tokens: int = LONGEST) -> np.ndarray:
        """Log p/q of the first tokens of each answer between two temperatures."""
        p, q = (
            self.log_probabilities[TEMPERATURES.index(one), :, :tokens].astype(float).sum(1)
            for one in (real, generated)
        )
        return np.asarray(p - q)

    def take(self, rows: np.ndarray) -> Answered:
        """Some of the answers."""
        return Answered(
            self.question[rows],
            [self.texts[i] for i in rows],
            self.tokens[rows],
            self.log_probabilities[:, rows],
        )


def answered(questions: Sequence[str] = QUESTIONS) -> dict[float, Answered]:
    """Answers by temperature."""
    folder = datasets.CACHE / "questions"
    folder.mkdir(parents=True, exist_ok=True)
    parts = []
    for number, question in enumerate(track(list(questions), "answering questions")):
        path = folder / f"{number}.npz"
        if not path.exists():
            drawn = _draw(question, number)
            fresh = path.with_suffix(".tmp.npz")
            np.savez_compressed(fresh, **drawn)
            fresh.replace(path)
        with np.load(path) as kept:
            parts.append({name: kept[name] for name in kept.files})
    numbers = np.repeat(np.arange(len(parts)), EACH)
    found = {}
    for i, temperature in enumerate(TEMPERATURES):
        rows = slice(i * EACH, (i + 1) * EACH)
        found[temperature] = Answered(
            numbers,
            [text for part in parts for text in json.loads(str(part["texts"]))[rows]],
            np.concatenate([part["tokens"][rows] for part in parts]),
            np.concatenate([part["log_probabilities"][:, rows] for part in parts], axis=1),
        )
    return found


def _draw(question: str, seed: int) -> dict[str, Any]:
    """Answers to one question at all temperatures, in one batch."""
    import torch

    network, tokenizer = generators._language_model()
    end = tokenizer.eos_token_id
    generator = torch.Generator().manual_seed(seed)
    knobs = [Knob(one) for one in TEMPERATURES]
    count = EACH * len(knobs)
    prompt = tokenizer.apply_chat_template(
        [{"role": "user", "content": question}], add_generation_prompt=True, return_dict=False
    )
    open_ = torch.ones(count, dtype=torch.bool)
    codes = np.full((count, LONGEST), end, np.int32)
    scores = np.zeros((len(knobs), count, LONGEST), np.float32)
    with torch.inference_mode():
        found = network(torch.tensor([prompt]), use_cache=True)
        past, logits = found.past_key_values, found.logits[:, -1].expand(count, -1)
        past.batch_repeat_interleave(count)
        for step in range(LONGEST):
            told = [knob.log_probabilities(logits.float()) for knob in knobs]
            own = torch.cat([one[i * EACH : (i + 1) * EACH] for i, one in enumerate(told)])
            chosen = torch.multinomial(own.exp(), 1, generator=generator)
            for i, one in enumerate(told):
                picked = one.gather(1, chosen)[:, 0]
                scores[i, :, step] = torch.where(open_, picked, 0.0).numpy()
            codes[:, step] = torch.where(open_, chosen[:, 0], end).numpy()
            open_ &= chosen[:, 0] != end
            if not open_.any():
                break
            found = network(chosen, past_key_values=past, use_cache=True)
            past, logits = found.past_key_values, found.logits[:, -1]
    texts = tokenizer.batch_decode(codes, skip_special_tokens=True)
    return {"texts": json.dumps(texts), "tokens": codes, "log_probabilities": scores}


if __name__ == "__main__":
    answered()
