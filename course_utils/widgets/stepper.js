// The stepper's controls. The kernel makes the frames; this page asks for them and keeps some.

const MILLISECONDS_A_STEP = 1400;
const NO_ANSWER_AFTER = 5000;
const KEPT_FRAMES = 50;
const SMALLEST = 0.8;
const SILENT =
  "The kernel has not answered yet. It may be busy with another cell; if it was restarted, run this cell again.";

const BUTTONS = [
  ["first", "First step", "|◀"],
  ["back", "One step back", "◀"],
  ["next", "Next step", "▶"],
  ["last", "Last step", "▶|"],
];

function element(tag, attributes = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  made.append(...children);
  return made;
}

// How far to scroll so that a point comes to the middle; 0 while it is not near an edge.
function missing(at, size) {
  return at > 0.2 * size && at < 0.8 * size ? 0 : at - size / 2;
}

const key = (variant, step) => `${variant}/${step}`;

// An image of its own for each frame: by the time it is shown, the browser has drawn it.
function pictured({ svg, alt }) {
  const image = element("img", { alt });
  image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(svg)}`;
  image.decode().catch(() => {});
  return image;
}

function withCaption(image, words) {
  return element("figure", {}, element("figcaption", {}, words), image);
}

function controls(last) {
  const buttons = Object.fromEntries(
    BUTTONS.map(([name, title, sign]) => [
      name,
      element("button", { type: "button", title, "aria-label": title, class: name }, sign),
    ]),
  );
  const play = element("button", { type: "button", class: "play" }, "Play");
  const slider = element("input", { type: "range", min: 0, max: last, step: 1, value: 0, "aria-label": "Step" });
  const number = element("input", { type: "number", min: 0, max: last, step: 1, value: 0, "aria-label": "Step number" });
  const typed = element("label", {}, "step ", number, ` of ${last}`);
  const variant = element("input", { type: "checkbox" });
  const variantLabel = element("label", {}, variant, "show the second-order graph");
  return { ...buttons, play, slider, number, typed, variant, variantLabel };
}

function render({ model, el }) {
  const last = model.get("last");
  const parts = controls(last);
  const sentence = element("p", { role: "status", "aria-live": "polite", class: "sentence" });
  let image = element("img");
  const note = element("p", { role: "alert", class: "note" });
  note.hidden = true;
  const picture = element("div", { class: "picture" }, image);
  const bar = element(
    "div",
    { class: "controls" },
    parts.first, parts.back, parts.next, parts.last, parts.play, parts.slider, parts.typed,
    ...(model.get("variants").length > 1 ? [parts.variantLabel] : []),
  );
  const root = element(
    "div",
    {
      class: "autograd-stepper",
      tabindex: 0,
      role: "group",
      "aria-label": "Backward pass, step by step. The left and right arrow keys move.",
    },
    bar, sentence, note, picture,
  );
  // else JupyterLab takes the arrow keys; Notebook 7 looks first at what has the focus, then outwards
  for (const control of [root, ...bar.querySelectorAll("button, input")]) {
    control.setAttribute("data-lm-suppress-shortcuts", "true");
  }
  el.append(root);

  const frames = new Map();
  const asked = new Set();
  let wanted = model.get("step");
  let variant = model.get("variant");
  let shown = null;
  let playing = null;
  let silence = null;

  function show(frame) {
    shown = key(frame.variant, frame.step);
    const other = frame.beside ? [withCaption(frame.beside.image, "your engine")] : [];
    image = frame.image;
    picture.replaceChildren(...(other.length ? [withCaption(image, "PyTorch"), ...other] : [image]));
    image.decode().then(() => frame.image === image && bringIntoView(frame.focus), () => {});
    sentence.replaceChildren(...[frame, frame.beside].filter(Boolean).map((one) => element("span", {}, one.sentence)));
    root.dataset.step = frame.step;
    root.dataset.variant = frame.variant;
    clearTimeout(silence);
    if (!root.classList.contains("gone")) note.hidden = true;
  }

  // Text stays readable in a narrow window: the picture shrinks a little, then it moves in its frame.
  function bringIntoView(focus) {
    image.style.minWidth = `${SMALLEST * image.naturalWidth}px`;
    if (!focus) return;
    const scale = image.clientWidth / image.naturalWidth;
    const left = missing(focus[0] * scale - picture.scrollLeft, picture.clientWidth);
    const top = missing(focus[1] * scale - picture.scrollTop, picture.clientHeight);
    const still = matchMedia("(prefers-reduced-motion: reduce)").matches;
    if (left || top) picture.scrollBy({ left, top, behavior: still ? "auto" : "smooth" });
  }

  function mark() {
    parts.variant.checked = variant === 1;
    parts.slider.value = wanted;
    parts.number.value = wanted;
    parts.slider.setAttribute("aria-valuetext", `step ${wanted} of ${last}`);
    // not the attribute: a button that is disabled while it has the focus loses it, and the keys with it
    for (const name of ["first", "back"]) parts[name].setAttribute("aria-disabled", wanted === 0);
    for (const name of ["next", "last"]) parts[name].setAttribute("aria-disabled", wanted === last);
  }

  function go(step) {
    if (root.classList.contains("gone") || Number.isNaN(step)) return mark();
    wanted = Math.min(Math.max(Math.round(step), 0), last);
    mark();
    model.set("step", wanted);
    model.set("variant", variant);
    model.save_changes();
    const now = key(variant, wanted);
    if (frames.has(now)) show(frames.get(now));
    ask();
    clearTimeout(silence);
    if (shown !== now) silence = setTimeout(() => say(SILENT), NO_ANSWER_AFTER);
  }

  // For the frame to show, and for those of the next click.
  function ask() {
    const near = [wanted, wanted + 1, wanted - 1].filter((step) => step >= 0 && step <= last);
    const missing = near.filter((step) => !frames.has(key(variant, step)) && !asked.has(key(variant, step)));
    for (const step of missing) asked.add(key(variant, step));
    if (missing.length) model.send({ frames: missing.map((step) => [variant, step]) });
  }

  function say(text) {
    note.textContent = text;
    note.hidden = false;
  }

  function received({ frame }) {
    frame.image = pictured(frame);
    if (frame.beside) frame.beside.image = pictured(frame.beside);
    const name = key(frame.variant, frame.step);
    asked.delete(name);
    frames.set(name, frame);
    if (frames.size > KEPT_FRAMES) frames.delete(frames.keys().next().value);
    if (name === key(variant, wanted)) show(frame);
  }

  // From the kernel's side, or from another view of the same stepper.
  function moved() {
    variant = model.get("variant");
    if (model.get("step") !== wanted || shown !== key(variant, wanted)) go(model.get("step"));
  }

  function pause() {
    clearInterval(playing);
    playing = null;
    parts.play.textContent = "Play";
    sentence.setAttribute("aria-live", "polite");
  }

  function play() {
    if (playing !== null) return pause();
    if (wanted === last) go(0);
    parts.play.textContent = "Pause";
    playing = setInterval(() => {
      if (wanted === last) pause();
      else if (shown === key(variant, wanted)) go(wanted + 1); // a slow frame is waited for, none is left out
    }, MILLISECONDS_A_STEP);
  }

  function gone() {
    pause();
    clearTimeout(silence);
    root.classList.add("gone");
    for (const control of bar.querySelectorAll("button, input")) control.disabled = true;
    say(model.get("cut_off"));
  }

  const moves = { first: () => 0, back: () => wanted - 1, next: () => wanted + 1, last: () => last };
  for (const [name, move] of Object.entries(moves)) {
    parts[name].addEventListener("click", () => { pause(); go(move()); });
  }
  parts.play.addEventListener("click", play);
  parts.slider.addEventListener("input", () => { pause(); go(parts.slider.valueAsNumber); });
  parts.variant.addEventListener("change", () => { variant = parts.variant.checked ? 1 : 0; go(wanted); });
  parts.number.addEventListener("change", () => { pause(); go(parts.number.valueAsNumber); });

  parts.number.addEventListener("keydown", (event) => {
    if (event.key !== "Enter") return;
    event.preventDefault(); // and not left to the notebook, which takes Enter as its own
    event.stopPropagation();
    pause();
    go(parts.number.valueAsNumber);
  });

  const keys = { ArrowLeft: "back", ArrowRight: "next", Home: "first", End: "last" };
  root.addEventListener("keydown", (event) => {
    if (event.target === parts.number || event.altKey || event.ctrlKey || event.metaKey) return;
    if (event.key in keys) parts[keys[event.key]].click();
    else if (event.key === " " && event.target === root) play();
    else return;
    event.preventDefault();
    event.stopPropagation();
  });

  model.on("msg:custom", received);
  model.on("change:step change:variant", moved);
  model.on("comm_live_update", gone);
  const watcher = new MutationObserver(() => {
    if (el.closest(".jupyter-widgets-disconnected")) gone();
  });
  watcher.observe(el, { attributes: true, attributeFilter: ["class"] });
  go(wanted);
  return () => {
    pause();
    clearTimeout(silence);
    watcher.disconnect();
    model.off("msg:custom", received);
    model.off("change:step change:variant", moved);
    model.off("comm_live_update", gone);
  };
}

export default { render };
