"""The page of a result in a browser: it asks for nothing, moves, and shows hostile text as text."""

import csv
import io
import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from tests.known.costs import first_paint
from tradeoff import Above, compare, decide, evaluate, sweep
from tradeoff._text import printable
from tradeoff.comparison import Comparison
from tradeoff.data.base import Sample
from tradeoff.evaluation import Evaluation
from tradeoff.evaluation.verdict import Outcome
from tradeoff.exceptions import InvalidInputError
from tradeoff.explain.result import Filtered, GroupedLoss
from tradeoff.report.page import page_of

pytestmark = pytest.mark.slow

EXAMPLES = Path(__file__).parents[2] / "docs" / "results"
HOSTILE = (
    '</script><script>document.title="OWNED"</script><img src=x onerror="document.title=1">',
    '" onmouseover="document.title=2" \u202egnp.exe',
)


class Pictures:
    """Small images whose colors are their features; names and labels are hostile."""

    kind = "image"

    def __init__(self, colors, labels):
        self.colors, self.labels = colors, labels

    def __iter__(self):
        for i, color in enumerate(self.colors):
            image = Image.new("RGB", (40, 30), tuple(int(v) for v in color))
            data = io.BytesIO()
            image.save(data, "PNG")
            yield Sample(f"{HOSTILE[i % 2]}{i}", data.getvalue(), self.labels[i])


def colors_of(images):
    """An encoder: the mean color of each image."""
    return np.array([np.asarray(image, float).reshape(-1, 3).mean(0) for image in images])


def pictures(rng, modes, count):
    means = np.array([[60, 60, 60], [190, 60, 60], [60, 190, 60]])
    which = rng.choice(modes, count)
    colors = np.clip(means[which] + rng.normal(0, 18, (count, 3)), 0, 255)
    return Pictures(colors, [HOSTILE[m % 2] + str(m) for m in which])


@pytest.fixture(scope="module")
def results():
    rng = np.random.default_rng(0)
    options = {"metrics": ("curve", "copies"), "estimator": "trees", "encoder": colors_of}
    options |= {"diagnose": False, "explain": True, "progress": False}
    real, fewer = pictures(rng, [0, 1, 2], 600), pictures(rng, [0, 1], 600)
    both = {HOSTILE[0]: fewer, "all": pictures(rng, [0, 1, 2], 600)}
    return {
        "evaluation": evaluate(real=real, generated=fewer, **options),
        "comparison": compare(real=real, generated=both, **options),
        "sweep": sweep(real=real, generated=both, **options),
    }


def opened(browser, path, **options):
    """A page, with everything that it asks for and prints."""
    context = browser.new_context(**options)
    page = context.new_page()
    heard = []
    page.on("console", lambda message: heard.append(message.text))
    page.on("pageerror", lambda error: heard.append(str(error)))
    page.on(
        "request",
        lambda request: (
            heard.append(request.url)
            if not request.url.startswith(("data:", path.as_uri()))
            else None
        ),
    )
    page.goto(path.as_uri())
    return page, heard


@pytest.fixture(params=["evaluation", "comparison", "sweep"])
def path(request, results, tmp_path):
    written = tmp_path / "page.html"
    results[request.param].report(written)
    return written


@pytest.mark.parametrize("width", [390, 1100])
def test_a_page_asks_for_nothing_prints_nothing_and_fits(browser, path, width):
    page, heard = opened(browser, path, viewport={"width": width, "height": 900})
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert heard == []
    broken = "[...document.images].filter(image => !image.naturalWidth).length"
    assert page.evaluate("document.images.length") > 10
    assert page.evaluate(broken) == 0


def test_hostile_names_and_labels_are_text_and_no_other_script_runs(browser, path):
    page, heard = opened(browser, path)
    assert page.title().startswith("tradeoff: ")
    body = page.inner_text("body")
    assert 'document.title="OWNED"' in body
    assert "\u202e" not in page.content()
    for label in page.query_selector_all("figcaption")[:5]:
        label.hover()
    page.evaluate(
        "const s = document.createElement('script');"
        "s.textContent = 'document.title = 3'; document.body.append(s)"
    )
    assert page.title().startswith("tradeoff: ")
    assert any("Content Security Policy" in text for text in heard)


MOST_LINES = {1280: 2, 390: 3}


def lines_of_headline(page):
    return page.evaluate(
        """() => {
            const range = document.createRange();
            range.selectNodeContents(document.querySelector("h1"));
            return new Set([...range.getClientRects()].map(box => Math.round(box.top))).size;
        }"""
    )


@pytest.mark.parametrize("width", MOST_LINES)
def test_headlines_are_short_even_with_hostile_names(browser, path, width):
    page, _ = opened(browser, path, viewport={"width": width, "height": 900})
    assert lines_of_headline(page) <= MOST_LINES[width]


@pytest.mark.parametrize("name", ["images", "text", "table", "compare", "copies"])
def test_example_pages_are_short_at_the_top_and_fit_everywhere(browser, name, tmp_path):
    result = (Comparison if name == "compare" else Evaluation).load(EXAMPLES / name)
    result.report(tmp_path / "page.html")
    for width, most in MOST_LINES.items():
        for scheme in ("light", "dark"):
            options = {"viewport": {"width": width, "height": 900}, "color_scheme": scheme}
            page, heard = opened(browser, tmp_path / "page.html", **options)
            assert lines_of_headline(page) <= most
            assert page.evaluate("document.documentElement.scrollWidth") <= width
            assert heard == []
    page.set_viewport_size({"width": 690, "height": 960})  # of paper
    page.emulate_media(media="print")
    assert page.evaluate("document.documentElement.scrollWidth") <= 690
    assert page.locator(".next li").first.is_visible()
    assert not page.locator("a.download").first.is_visible()


def test_next_is_next_to_the_headline_and_leads_to_the_samples(browser, results, tmp_path):
    for name, target in (("evaluation", "missed"), ("comparison", "m1-missed")):
        results[name].report(tmp_path / f"{name}.html")
        page, _ = opened(browser, tmp_path / f"{name}.html")
        link = page.locator("header .next a").first
        assert link.get_attribute("href") == f"#{target}"
        assert "page.html" not in page.inner_text(".next")
        page.evaluate("document.querySelectorAll('details').forEach(one => one.open = false)")
        link.focus()
        page.keyboard.press("Enter")
        page.wait_for_timeout(100)
        assert page.locator(f"#{target}").is_visible()  # in a part that was folded


def test_without_an_explanation_next_says_how_to_get_one(results):
    page = page_of(replace(results["evaluation"], explanation=None))
    assert "that the model misses (<code>--explain</code>)" in page
    assert "What it misses" not in page


def test_cards_tell_good_from_bad_and_estimates_from_limits_without_color(browser, results):
    found = results["evaluation"]
    page = browser.new_page()
    page.set_content(page_of(found))
    card = page.locator(".card", has_text="Recall")
    assert card.locator(".badge").inner_text().startswith("✗ misses at least")
    score = found["curve.recall"]
    said = card.locator("svg").get_attribute("aria-label")
    assert said == (
        f"Value {score.value_text}, {score.interval_text} with 95% confidence, "
        "1.000 if both sets were real"
    )
    estimate, limit = card.locator("circle.estimate"), card.locator("line.limit")
    assert float(estimate.get_attribute("cx")) < float(limit.get_attribute("x1"))
    shown = page.locator(".card", has_text="Precision")
    assert shown.locator("line.limit").count() == 0
    assert "no limit below 1" in shown.locator("svg").get_attribute("aria-label")


@pytest.mark.parametrize("scripts", [True, False])
def test_lists_are_saved_from_within_the_page(browser, results, tmp_path, scripts):
    found = results["evaluation"]
    found.report(tmp_path / "page.html")
    page, heard = opened(browser, tmp_path / "page.html", java_script_enabled=scripts)
    with page.expect_download() as download:
        page.locator("#missed ~ .bar-line a.download").first.click()
    assert download.value.suggested_filename == "missed.csv"
    with open(download.value.path(), encoding="utf-8-sig", newline="") as file:
        header, *rows = csv.reader(file)
    assert header == ["group", "established", "sample"]
    members = {printable(name) for one in found.explanation.missed.groups for name in one.members}
    assert {row[2] for row in rows} == members
    assert len(rows) == sum(one.size for one in found.explanation.missed.groups)
    assert not any("Refused" in text for text in heard)


def test_a_group_that_is_not_established_says_why_and_what_would_be_enough(results):
    found = results["evaluation"]
    group = replace(
        found.explanation.missed.groups[0], at_least=0.0, counted=30, other=0, times_needed=1.6
    )
    missed = replace(found.explanation.missed, factor=5.0, groups=(group,))
    page = page_of(replace(found, explanation=replace(found.explanation, missed=missed)))
    text = " ".join(page.split())
    assert "a hint: too few samples to be sure" in text
    assert "30 real and 0 generated ones lie here" in text
    assert "generated data is 20% as frequent here as real data" in text
    assert "About 1.6 times as many samples (960 on each side) would be enough" in text


def test_what_could_not_be_found_is_not_known(results):
    found = results["evaluation"]
    explanation = replace(found.explanation, missed=None, invented=None)
    bounded, is_open = Outcome(at_most=0.1), Outcome()
    verdict = replace(found.verdict, recall=bounded, precision=is_open)
    page = page_of(replace(found, explanation=explanation, verdict=verdict))
    assert "No group of real samples is shown to be missing." in page
    assert "Not known: no invented group was found" in page


def test_a_comparison_keeps_the_order_of_the_models_and_shows_signs(browser, results):
    page = browser.new_page()
    page.set_content(page_of(results["comparison"]))
    names = list(results["comparison"].evaluations)
    shown = page.locator(".glance tbody th").all_inner_texts()
    assert shown == [printable(name) for name in names]
    header = page.locator("#scores ~ .scroll thead").first.locator("th").all_inner_texts()
    assert header[2:] == shown
    table = page.locator("table", has_text="first minus second")
    for found, row in zip(
        results["comparison"].differences, table.locator("tbody tr").all(), strict=True
    ):
        models, _, value, interval, _, better = row.locator("th, td").all_inner_texts()
        assert models == f"{shown[0]} minus {shown[1]}"
        assert value[0] == interval[1] == "−"
        assert float(value.replace("−", "-")) == pytest.approx(found.value, abs=6e-4)
        assert better == f"{shown[1]} is better"


def test_slider_keys_and_pointer_change_the_sentence(browser, results, tmp_path):
    results["evaluation"].report(tmp_path / "page.html")
    page, _ = opened(browser, tmp_path / "page.html")
    said = [page.inner_text(".sentence")]
    page.focus("input[type=range]")
    page.keyboard.press("ArrowRight")
    said.append(page.inner_text(".sentence"))
    page.focus("svg.plot")
    for _ in range(40):
        page.keyboard.press("ArrowLeft")
    said.append(page.inner_text(".sentence"))
    box = page.query_selector("svg.plot").bounding_box()
    page.mouse.move(box["x"] + 0.3 * box["width"], box["y"] + 0.1 * box["height"])
    said.append(page.inner_text(".sentence"))
    assert len(set(said)) == 4
    assert "generated samples come from regions where real data is rarer" in said[0]
    assert "generated samples come from regions where real data is more than" in said[1]
    assert "of the real data comes from regions that the model produces less than" in said[2]


def test_a_page_is_readable_without_scripts(browser, path):
    page, _ = opened(browser, path, java_script_enabled=False)
    body = page.locator("body").inner_text()
    assert "What it misses" in body
    assert "Numbers of the curve" in body
    assert not page.locator("input[type=range]").first.is_visible()


def test_a_page_paints_soon(browser, path, tmp_path):
    """The record of pages has the bar of half a second; here other tests share the processor, so
    that a page of one word takes its time too."""
    word = tmp_path / "word.html"
    word.write_text("<!doctype html><title>word</title><p>word", encoding="utf-8")
    pages = [(first_paint(opened(browser, p)[0]) for p in (path, word)) for _ in range(3)]
    paint, of_a_word = (min(paints) for paints in zip(*pages, strict=True))
    assert 0 < paint < max(1.0, 10 * of_a_word)


def test_pages_are_identical_and_leave_out_samples_if_asked(results):
    for result in results.values():
        assert page_of(result) == page_of(result)
        assert "--report" not in page_of(result)
        bare = page_of(result, samples=False)
        assert "data:image" not in bare
        assert "data:text" not in bare
        assert "This page shows samples" not in bare
        assert "[0]" not in bare


def test_the_page_of_a_sweep_draws_a_path_and_marks_its_points(results):
    page = page_of(results["sweep"])
    assert page.count("<polyline") == 1 + page_of(results["comparison"]).count("<polyline")
    hollow = sum(not point.is_pareto for point in results["sweep"].points)
    assert page.count('class="hollow"') == hollow == 1
    assert page.count('class="name best"') == 1
    assert "all has the largest area." in page
    command = "tradeoff sweep --real REAL --generated VALUE=GENERATED …"
    assert command in re.sub("</?span[^>]*>", "", page)


def test_the_page_of_a_published_curve_has_no_intervals(tmp_path):
    rng = np.random.default_rng(0)
    sides = {"real": rng.normal(size=(300, 2)), "generated": rng.normal(1, 1, (300, 2))}
    found = evaluate(**sides, protocol="sajjadi-2018", progress=False)
    found.report(tmp_path / "page.html")
    text = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert "Numbers of the curve" in text
    assert "Limits of all slopes" not in text
    header, first = str(found).splitlines()[2:4]
    assert (header.split(), first.split()[0]) == (["value"], "prd.f_8")  # no column of meanings


def test_filtering_is_shown_only_where_it_is_measured_that_precision_is_lost(results):
    """A model that drops a mode loses none, and then a table of zeros would say nothing."""
    found = results["evaluation"]
    assert "What filtering would do" not in page_of(found)
    loss = GroupedLoss(kind="precision", factor=2.5, loss=0.3, low=0.2, high=0.4)
    rows = (Filtered(dropped=0.0, precision_loss=0.3, precision_low=0.2, recall_loss=0.0),)
    explanation = replace(found.explanation, invented=loss, filtering=rows)
    page = page_of(replace(found, explanation=explanation))
    assert "What filtering would do" in page
    assert "of precision at λ = 2.5" in page


def test_a_comparison_says_what_its_numbers_and_differences_are(results):
    text = str(results["comparison"])
    assert text.count("at most: guaranteed with 95% confidence") == 1
    assert text.count("difference: computed from curves before they are smoothed") == 1


def test_differences_are_shares_and_p_values_are_not_zero(results):
    found = results["comparison"]
    differences = [replace(one, low=-1.2, high=-0.9, p_value=0.0) for one in found.differences]
    page = page_of(replace(found, differences=tuple(differences)))
    assert "[−1.000, −0.900]" in page
    assert "&lt; 0.001" in page


def test_a_page_must_be_html_and_replaces_nothing_unasked(results, tmp_path):
    result = results["evaluation"]
    with pytest.raises(InvalidInputError, match="must end in .html"):
        result.report(tmp_path / "page.pdf")
    result.report(tmp_path / "page.html")
    with pytest.raises(InvalidInputError, match="exists already"):
        result.report(tmp_path / "page.html")


def test_the_page_of_a_decision_draws_its_looks(browser, tmp_path):
    rng = np.random.default_rng(0)
    found = decide(
        real=rng.normal(size=(2000, 1)),
        generated=lambda n: rng.normal(2, 1, (n, 1)),
        goal=Above("precision", 0.6, lam=1.0),
        estimator="logistic",
        progress=False,
    )
    found.report(tmp_path / "page.html")
    page, heard = opened(browser, tmp_path / "page.html", viewport={"width": 390, "height": 900})
    assert heard == []
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    assert page.locator("h1").inner_text().startswith("Below: with 95% confidence")
    assert page.locator("tbody tr").count() == len(found.looks)
    assert page.locator("svg .band").count() == 1


def test_the_page_of_a_table_of_100_columns_is_small_and_marks_the_columns_of_a_rule(
    browser, tmp_path
):
    rng = np.random.default_rng(0)

    def rows(shift):
        numbers = rng.normal(size=(600, 75))
        numbers[:, 3] += shift * (rng.random(600) < 0.5)
        texts = rng.integers(0, 12, (600, 25))
        return [
            {f"measurement <b>{i}</b>": float(v) for i, v in enumerate(one)}
            | {f"category number {i}": f"value {v}" for i, v in enumerate(other)}
            for one, other in zip(numbers, texts, strict=True)
        ]

    options = {"metrics": "curve", "estimator": "trees", "diagnose": False, "progress": False}
    result = evaluate(rows(0.0), rows(8.0), explain=True, **options)
    result.report(tmp_path / "page.html")
    assert (tmp_path / "page.html").stat().st_size < 1_000_000
    page, heard = opened(browser, tmp_path / "page.html", viewport={"width": 390, "height": 900})
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    assert page.locator("th.named").first.inner_text() == "measurement <b>3</b>"
    assert page.get_by_text("The 85 other columns").is_visible()
    assert heard == []
