// A slider keeps its arrow keys when it has the focus; else Notebook 7 takes them to change cells.

function keep({ target }) {
  if (target.closest(".course-keys")) target.setAttribute("data-lm-suppress-shortcuts", "true");
}

function render() {
  document.addEventListener("focusin", keep);
  return () => document.removeEventListener("focusin", keep);
}

export default { render };
