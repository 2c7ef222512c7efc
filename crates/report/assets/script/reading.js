// Reads a plot by pointer and by keys: the nearest point's values, and zooming.

// ------------------------------------------------------------------------------------------------ reading and zooming

function inView(view) {
  return view.marks.filter(({ px }) => px >= view.box.left - 8 && px <= view.box.right + 8);
}

function pointer(view, event) {
  const frame = view.svg.getBoundingClientRect();
  const factor = view.box.width / frame.width;
  return [(event.clientX - frame.left) * factor, (event.clientY - frame.top) * factor];
}

function nearest(view, [x, y]) {
  let best = null, distance = 40 ** 2;
  for (const mark of inView(view)) {
    const sticks = mark.series.drawn === "sticks" || mark.series.drawn === "steps";
    const squared = (mark.px - x) ** 2 + (sticks ? 0.05 : 1) * (mark.py - y) ** 2;
    if (squared < distance) { distance = squared; best = mark; }
  }
  return best;
}

function describe(view, { series, point }) {
  const name = view.dots ? view.plot.categories[point[1]] : "";
  const coordinates = () => view.dots
    ? written(point[0], view.x.unit)
    : `${view.x.title}: ${written(point[0], view.x.unit)}; ${view.y.title}: ${written(point[1], view.y.unit)}`;
  return [name || series.name, name ? `${series.name}: ${point[3] || coordinates()}` : point[3] || coordinates()];
}

function showTip(view, mark) {
  const [title, text] = describe(view, mark);
  view.tip.className = `tip s${mark.series.colour}`;
  view.tip.replaceChildren(element("b", {}, title), text);
  view.tip.hidden = false;
  const factor = view.svg.clientWidth / view.box.width;
  const x = mark.px * factor, y = view.svg.offsetTop + mark.py * factor;
  const left = Math.min(Math.max(0, x + 14), view.canvas.clientWidth - view.tip.offsetWidth);
  const below = y + 14 + view.tip.offsetHeight < view.canvas.scrollTop + view.canvas.clientHeight;
  view.tip.style.left = `${Math.max(0, left)}px`;
  view.tip.style.top = `${below ? y + 14 : Math.max(0, y - 14 - view.tip.offsetHeight)}px`;
  view.ring.setAttribute("cx", mark.px);
  view.ring.setAttribute("cy", mark.py);
  view.ring.setAttribute("visibility", "visible");
}

function hideTip(view) {
  view.tip.hidden = true;
  if (view.ring) view.ring.setAttribute("visibility", "hidden");
}

function listen(view) {
  const { svg } = view;
  let from = null;
  svg.addEventListener("pointerdown", (event) => {
    if (event.button === 0) from = pointer(view, event)[0];
  });
  svg.addEventListener("pointermove", (event) => {
    const at = pointer(view, event);
    if (from !== null && event.buttons) return select(view, from, at[0]);
    const mark = nearest(view, at);
    mark ? showTip(view, mark) : hideTip(view);
  });
  svg.addEventListener("pointerup", (event) => {
    const to = pointer(view, event)[0];
    if (from !== null && Math.abs(to - from) > 12) zoomTo(view, from, to);
    else select(view, 0, 0);
    from = null;
  });
  svg.addEventListener("pointerleave", () => { from = null; select(view, 0, 0); hideTip(view); });
  svg.addEventListener("dblclick", () => zoom(view, null));
  svg.addEventListener("keydown", (event) => key(view, event));
  svg.addEventListener("blur", () => hideTip(view));
}

function select(view, from, to) {
  const [left, right] = [Math.min(from, to), Math.max(from, to)].map((x) => Math.min(Math.max(x, view.box.left), view.box.right));
  view.selection.setAttribute("x", left);
  view.selection.setAttribute("width", right - left);
  view.selection.setAttribute("visibility", right - left > 1 ? "visible" : "hidden");
  if (right - left > 1) hideTip(view);
}

function zoomTo(view, from, to) {
  const [left, right] = [Math.min(from, to), Math.max(from, to)].map((x) => Math.min(Math.max(x, view.box.left), view.box.right));
  if (right - left > 4) zoom(view, [view.sx.invert(left), view.sx.invert(right)]);
}

// Arrow keys go from point to point, + and − zoom about the point, Escape shows all.
function key(view, event) {
  const steps = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 };
  const marks = inView(view);
  if (event.key in steps && marks.length) {
    const next = view.cursor === null ? 0 : view.cursor + steps[event.key];
    view.cursor = (next + marks.length) % marks.length;
    showTip(view, marks[view.cursor]);
    keepInSight(view, marks[view.cursor]);
  } else if (event.key === "+" || event.key === "-") {
    zoomBy(view, event.key === "+" ? 0.5 : 2, marks[view.cursor]);
  } else if (event.key === "Escape") {
    zoom(view, null);
  } else {
    return;
  }
  event.preventDefault();
  view.svg.focus({ preventScroll: true });
}

function keepInSight(view, mark) {
  if (!view.canvas.classList.contains("tall")) return;
  const y = mark.py * view.svg.clientWidth / view.box.width;
  const top = view.canvas.scrollTop, height = view.canvas.clientHeight - 60;
  if (y < top || y > top + height) view.canvas.scrollTop = y - height / 2;
}

function zoomBy(view, factor, mark) {
  const { left, right } = view.box;
  const middle = mark ? mark.px : (left + right) / 2;
  const half = (right - left) / 2 * factor;
  zoom(view, [view.sx.invert(middle - half), view.sx.invert(middle + half)]);
}
