// A slider keeps its arrow keys when it has the focus; else Notebook 7 takes them to change cells.
// And it gets its label as its name: ipywidgets' sliders have none that a screen reader could say.

function keep({ target }) {
  const box = target.closest(".course-keys");
  if (!box) return;
  target.setAttribute("data-lm-suppress-shortcuts", "true");
  name(box);
}

function name(box) {
  for (const handle of box.querySelectorAll(".widget-slider .noUi-handle")) {
    const label = handle.closest(".widget-slider").querySelector(".widget-label");
    if (label) handle.setAttribute("aria-label", label.textContent);
  }
}

function render({ el }) {
  document.addEventListener("focusin", keep);
  let drawn;
  // now it is no part of the page yet; and sliders may be drawn later, and anew
  const frame = requestAnimationFrame(() => {
    const box = el.closest(".course-keys");
    if (!box) return;
    name(box);
    drawn = new MutationObserver(() => name(box));
    drawn.observe(box, { childList: true, subtree: true });
  });
  return () => {
    document.removeEventListener("focusin", keep);
    cancelAnimationFrame(frame);
    drawn?.disconnect();
  };
}

export default { render };
