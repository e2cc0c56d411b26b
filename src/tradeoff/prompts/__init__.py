"""Prompts: whether samples fit them, and how much variety samples of one prompt have."""

from tradeoff.prompts.compare import Prompts, compare_prompts
from tradeoff.prompts.result import (
    Mismatch,
    Part,
    PromptReport,
    PromptVariety,
    Share,
    ShownPrompt,
    Variety,
)

__all__ = [
    "Mismatch",
    "Part",
    "PromptReport",
    "PromptVariety",
    "Prompts",
    "Share",
    "ShownPrompt",
    "Variety",
    "compare_prompts",
]
