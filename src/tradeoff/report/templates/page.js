"use strict";
document.documentElement.classList.add("scripted");
for (const figure of document.querySelectorAll("[data-curve]")) {
  const data = JSON.parse(figure.querySelector("script").textContent);
  const slider = figure.querySelector("input");
  const output = figure.querySelector("output");
  const sentence = figure.querySelector(".sentence");
  const dot = figure.querySelector(".dot");
  const svg = figure.querySelector("svg");
  const [left, top, size] = svg.dataset.frame.split(" ").map(Number);
  const last = data.lam.length - 1;
  const number = (value) => value.toFixed(3);
  const share = (value) => (100 * Math.max(value, 0)).toFixed(1) + "%";
  const limits = (kind, i) =>
    "[" + number(data[kind + "Low"][i]) + ", " + number(data[kind + "High"][i]) + "]";
  function show(i) {
    const lam = data.lam[i];
    slider.value = i;
    output.textContent = lam.toPrecision(3);
    slider.setAttribute("aria-valuetext", "λ = " + lam.toPrecision(3));
    dot.setAttribute("cx", left + size * data.recall[i]);
    dot.setAttribute("cy", top + size * (1 - data.precision[i]));
    const values = "Precision " + number(data.precision[i]) + " " + limits("precision", i) +
      ", recall " + number(data.recall[i]) + " " + limits("recall", i) + ". ";
    const times = Number(lam.toPrecision(2));
    const lost = (kind) =>
      "About " + share(1 - data[kind][i]) + " (at least " + share(1 - data[kind + "High"][i]) + ")";
    sentence.textContent = values + (lam >= 1
      ? lost("precision") + " of the generated samples come from regions where real data is " +
        (times > 1 ? "more than " + times + " times rarer" : "rarer") + " than generated data."
      : lost("recall") + " of the real data comes from regions that the model produces " +
        "less than " + times + " times as often as it should.");
  }
  function nearest(event) {
    const box = svg.getBoundingClientRect();
    const scale = svg.viewBox.baseVal.width / box.width;
    const x = ((event.clientX - box.left) * scale - left) / size;
    const y = 1 - ((event.clientY - box.top) * scale - top) / size;
    const angle = Math.atan2(Math.max(y, 1e-6), Math.max(x, 1e-6));
    let best = 0;
    for (let i = 0; i <= last; i++) {
      if (Math.abs(Math.atan(data.lam[i]) - angle) < Math.abs(Math.atan(data.lam[best]) - angle)) best = i;
    }
    return best;
  }
  slider.max = last;
  slider.addEventListener("input", () => show(Number(slider.value)));
  svg.addEventListener("pointermove", (event) => show(nearest(event)));
  svg.addEventListener("pointerdown", (event) => show(nearest(event)));
  svg.addEventListener("keydown", (event) => {
    const step = { ArrowRight: 1, ArrowUp: 1, ArrowLeft: -1, ArrowDown: -1 }[event.key];
    if (!step) return;
    event.preventDefault();
    show(Math.min(last, Math.max(0, Number(slider.value) + step)));
  });
  show(Math.round(last / 2));
}
function opened() {
  const target = document.getElementById(location.hash.slice(1));
  for (let one = target; one; one = one.parentElement) if (one.tagName === "DETAILS") one.open = true;
  if (target) target.scrollIntoView();
}
addEventListener("hashchange", opened);
if (location.hash) opened();
addEventListener("beforeprint", () => {
  for (const one of document.querySelectorAll(".model")) one.open = true;
});
