"""Guides begin with a command and what it prints."""

import pytest

from benchmarks.guides import DOCS, GUIDES, differences, outputs, transcript


@pytest.mark.parametrize("name", GUIDES)
def test_a_guide_begins_with_a_command_its_output_and_a_picture(name):
    page = (DOCS / f"{name}.md").read_text(encoding="utf-8")
    title, command, nothing, picture, *_ = page.split("\n```")
    assert title.startswith("# ")
    assert len(title.splitlines()) == 1
    assert command.startswith("console\n$ tradeoff ")
    assert transcript(DOCS / f"{name}.md")[0][1], "the command shows no output"
    assert not nothing.strip()
    assert picture.startswith("{image}")


@pytest.mark.slow
@pytest.mark.torch
@pytest.mark.parametrize("name", GUIDES)
def test_a_guide_shows_what_its_commands_print(name, tmp_path):
    for command, printed, shown in outputs(name, tmp_path):
        assert not differences(printed, shown), command


def test_other_words_and_numbers_that_differ_much_are_differences():
    assert not differences("3 files: 0.713", "3 files:\n0.715")
    assert differences("3 files", "3 folders")
    assert differences("0.713", "0.913")
