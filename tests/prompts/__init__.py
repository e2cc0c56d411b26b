"""Prompts: whether samples fit them, and how varied samples of one prompt are."""
