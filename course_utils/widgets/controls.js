// What ipywidgets' controls lack: a name that a screen reader can say, and arrow keys that stay theirs.

// A slider has a label beside it, but nothing says that the two belong together.
function name(box) {
  for (const row of box.querySelectorAll(".widget-slider")) {
    const label = row.querySelector(".widget-label")?.textContent.trim();
    const readout = row.querySelector(".widget-readout");
    for (const handle of row.querySelectorAll(".noUi-handle")) {
      set(handle, "aria-label", label);
      set(handle, "aria-valuetext", readout?.textContent); // its own is rounded to a whole step
    }
    if (readout) {
      set(readout, "role", "textbox");
      set(readout, "aria-label", `${label}, as a number`);
    }
  }
  const question = box.querySelector(".course-question")?.textContent.trim();
  for (const choices of box.querySelectorAll(".widget-radio-box")) {
    set(choices, "role", "radiogroup");
    set(choices, "aria-label", question);
  }
}

// only where it differs: each change wakes the watcher again
function set(element, attribute, value) {
  if (value && element.getAttribute(attribute) !== value) element.setAttribute(attribute, value);
}

// Notebook 7 takes the arrow keys to change cells, unless what has the focus says otherwise.
function keep({ target }) {
  if (target.closest(".course-controls")) target.setAttribute("data-lm-suppress-shortcuts", "true");
}

function render({ el }) {
  let watcher = null;
  // the controls may come into the page after this one, and each at its own time
  const start = setTimeout(function look() {
    const box = el.closest(".course-controls");
    if (!box) return;
    watcher = new MutationObserver(() => name(box));
    const what = { attributeFilter: ["aria-valuetext"], characterData: true, childList: true, subtree: true };
    watcher.observe(box, what);
    name(box);
  });
  document.addEventListener("focusin", keep);
  return () => {
    clearTimeout(start);
    watcher?.disconnect();
    document.removeEventListener("focusin", keep);
  };
}

export default { render };
