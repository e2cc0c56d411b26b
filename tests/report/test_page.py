"""The page of a result in a browser: it asks for nothing, moves, and shows hostile text as text."""

import io
from dataclasses import replace

import numpy as np
import pytest
from PIL import Image

from tests.known.costs import first_paint
from tradeoff import Above, compare, decide, evaluate, sweep
from tradeoff.data.base import Sample
from tradeoff.exceptions import InvalidInputError
from tradeoff.explain.result import Filtered, GroupedLoss
from tradeoff.report.page import page_of

pytestmark = pytest.mark.slow

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
        assert "This page shows samples" not in bare
        assert "[0]" not in bare


def test_the_page_of_a_sweep_draws_a_path_and_marks_its_points(results):
    page = page_of(results["sweep"])
    assert page.count("<polyline") == 1 + page_of(results["comparison"]).count("<polyline")
    hollow = sum(not point.is_pareto for point in results["sweep"].points)
    assert page.count('class="hollow"') == hollow == 1
    assert page.count('class="name best"') == 1
    assert "all has the largest area." in page
    assert "tradeoff sweep --real REAL --generated VALUE=GENERATED …" in page


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
    assert "[-1.000, -0.900]" in page
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
