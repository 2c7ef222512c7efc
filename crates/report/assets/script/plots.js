// Draws the page's plots.
// A plot: {title, categories, x, y, series, guides}. An axis: {title, unit, log}. A series: {name, colour, shape, drawn, points}.
// A point: [x, y] or [x, y, [low, high] or null, text]. With categories, y is a row and the interval lies along x; else along y.

// ------------------------------------------------------------------------------------------------------------- markers

const MARKERS = [
  (x, y, r) => `M${x - r} ${y}a${r} ${r} 0 1 0 ${2 * r} 0a${r} ${r} 0 1 0 ${-2 * r} 0`,
  (x, y, r) => `M${x - r} ${y - r}h${2 * r}v${2 * r}h${-2 * r}z`,
  (x, y, r) => `M${x} ${y - 1.3 * r}l${1.3 * r} ${1.3 * r}l${-1.3 * r} ${1.3 * r}l${-1.3 * r} ${-1.3 * r}z`,
  (x, y, r) => `M${x} ${y - 1.2 * r}l${1.2 * r} ${2.1 * r}h${-2.4 * r}z`,
];
// As many as there are markers, so that lines without markers are told apart, too.
const DASHES = ["", "6 4", "2 3", "8 3 2 3", "12 4", "1 4", "12 3 2 3 2 3", "4 2 1 2"];

// Filled circle first, then hollow circle: the commonest pair is told apart at a glance.
function marker(series) {
  const nth = series.shape % 8;
  return { path: MARKERS[Math.floor(nth / 2)], hollow: nth % 2 === 1 };
}

function dash(series) { return DASHES[series.shape % DASHES.length]; }

function swatch(series) {
  const icon = shape("svg", { viewBox: "0 0 28 12", class: `s${series.colour}`, "aria-hidden": "true" });
  if (series.drawn === "line" || series.drawn === "steps") {
    icon.append(shape("path", { class: "line", d: "M0 6H28", "stroke-dasharray": dash(series) }));
  }
  if (series.drawn === "sticks") icon.append(shape("path", { class: "sticks", d: "M7 12V2M14 12V6M21 12V4" }));
  if (series.drawn === "line" || series.drawn === "points") {
    const { path, hollow } = marker(series);
    icon.append(shape("path", { class: hollow ? "points hollow" : "points", d: path(14, 6, 4.2) }));
  }
  return icon;
}

// --------------------------------------------------------------------------------------------------------------- plots

function startPlot(figure, plot, index) {
  const drawing = figure.querySelector(".drawing");
  const view = {
    plot, index, figure,
    dots: plot.categories.length > 0,
    x: { ...plot.x }, y: { ...plot.y },
    hidden: new Set(), zoom: null, cursor: null, marks: [],
    canvas: element("div", { class: "canvas" }),
    tip: element("div", { class: "tip", role: "status", hidden: "" }),
  };
  drawing.append(controls(view), legend(view), view.canvas);
  let width = 0;
  new ResizeObserver(() => {
    const now = view.canvas.clientWidth;
    if (now !== width) { width = now; draw(view); }
  }).observe(view.canvas);
  draw(view);
  root.dataset.plots = String(Number(root.dataset.plots) + 1);
}

function controls(view) {
  const bar = element("div", { class: "controls", role: "group", "aria-label": "Axes" });
  const axes = view.dots ? [["x", view.x]] : [["x", view.x], ["y", view.y]];
  for (const [name, axis] of axes) {
    if (axis.unit === "nines") continue;
    const button = element("button", { type: "button", "aria-pressed": axis.log }, view.dots ? "logarithmic" : `log ${name}`);
    button.addEventListener("click", () => {
      axis.log = !axis.log;
      button.setAttribute("aria-pressed", axis.log);
      draw(view);
    });
    bar.append(button);
  }
  view.reset = element("button", { type: "button", hidden: "" }, "show all");
  view.reset.addEventListener("click", () => zoom(view, null));
  bar.append(view.reset);
  return bar;
}

function legend(view) {
  const bar = element("div", { class: "legend", role: "group", "aria-label": "Series" });
  if (view.plot.series.length < 2) return bar;
  view.plot.series.forEach((series, number) => {
    const button = element("button", { type: "button", "aria-pressed": "true" }, swatch(series), series.name);
    button.addEventListener("click", () => {
      const hide = !view.hidden.delete(number);
      if (hide) view.hidden.add(number);
      button.setAttribute("aria-pressed", !hide);
      draw(view);
    });
    bar.append(button);
  });
  return bar;
}

function zoom(view, range) {
  view.zoom = range;
  view.reset.hidden = range === null;
  draw(view);
}

function shown(view) { return view.plot.series.filter((_, number) => !view.hidden.has(number)); }

// The values that an axis must hold. Limits far below their value do not stretch a logarithmic axis.
function valuesAlong(view, along) {
  const values = [];
  const interval = view.dots ? "x" : "y";
  const log = view[along].log;
  const [from, to] = view.zoom && along === "y" ? view.zoom : [-Infinity, Infinity];
  for (const series of shown(view)) {
    for (const [x, y, limits] of series.points) {
      if (x < from || x > to) continue;
      const value = along === "x" ? x : y;
      values.push(value);
      if (limits && along === interval) values.push(log ? Math.max(limits[0], value / 10) : limits[0], limits[1]);
    }
    if (series.drawn === "sticks" && along === (view.dots ? "x" : "y") && !log) values.push(0);
  }
  return values;
}

function domainOf(view, along) {
  if (along === "x" && view.zoom) return view.zoom;
  const axis = view[along];
  const guides = along === "x" && view.dots ? view.plot.guides.map((guide) => guide.at) : [];
  const found = extent([...valuesAlong(view, along), ...guides], axis.log);
  return padded(found || [1, 10], axis.log);
}

function layout(view) {
  const width = Math.max(view.canvas.clientWidth, 240);
  const narrow = width < 560;
  if (!view.dots) {
    const height = narrow ? 280 : 360;
    return { width, height, narrow, left: 62, right: width - 14, top: 26, bottom: height - 42 };
  }
  const row = narrow ? 32 : 18;
  const left = narrow ? 8 : Math.min(labelWidth(view.plot.categories) + 20, width * 0.45);
  const height = view.plot.categories.length * row + 8;
  return { width, height, narrow, row, left, right: width - 22, top: 4, bottom: height - 4 };
}

const ruler = document.createElement("canvas").getContext("2d");

function textWidth(text) {
  ruler.font = `12px ${getComputedStyle(root).getPropertyValue("--sans")}`;
  return ruler.measureText(text).width;
}

function labelWidth(names) { return names.reduce((most, name) => Math.max(most, textWidth(name)), 0); }

function fitted(text, width) {
  if (textWidth(text) <= width) return text;
  let length = text.length;
  while (length > 1 && textWidth(text.slice(0, length) + "…") > width) length -= 1;
  return text.slice(0, length) + "…";
}

function draw(view) {
  const box = layout(view);
  hideTip(view);
  view.cursor = null;
  view.box = box;
  view.sx = scale(domainOf(view, "x"), [box.left, box.right], view.x.log);
  view.sy = view.dots
    ? (row) => box.top + (row + (box.narrow ? 0.72 : 0.5)) * box.row
    : scale(domainOf(view, "y"), [box.bottom, box.top], view.y.log);
  const svg = frame(view, box);
  const clip = `clip-${view.index}`;
  svg.append(clipPath(clip, box));
  const inside = shape("g", { "clip-path": `url(#${clip})` });
  view.dots ? rows(svg, view, box) : axes(svg, view, box);
  guides(inside, svg, view, box);
  view.marks = [];
  for (const series of shown(view)) drawSeries(inside, view, series);
  view.ring = shape("circle", { class: "ring", r: 7, visibility: "hidden" });
  view.selection = shape("rect", { class: "selection", y: box.top, height: box.bottom - box.top, visibility: "hidden" });
  inside.append(view.selection, view.ring);
  svg.append(inside);
  view.svg = svg;
  listen(view);
  view.canvas.classList.toggle("tall", view.dots && box.height > 600);
  view.canvas.replaceChildren(...(view.dots ? [head(view, box)] : []), svg, view.tip);
}

function frame(view, box) {
  return shape("svg", {
    viewBox: `0 0 ${box.width} ${box.height}`, role: "img", tabindex: "0",
    "aria-label": `${view.plot.title}. Arrow keys read the points.`,
    "aria-describedby": `plot-${view.index}-description`,
  });
}

function clipPath(id, box) {
  const path = shape("clipPath", { id });
  path.append(shape("rect", { x: box.left - 8, y: box.top - 8, width: box.right - box.left + 16, height: box.bottom - box.top + 16 }));
  return path;
}

// The value axis of a dot plot stays in sight above its rows.
function head(view, box) {
  const svg = shape("svg", { viewBox: `0 0 ${box.width} 40`, class: "head", "aria-hidden": "true" });
  svg.append(shape("text", { class: "title", x: box.left, y: 13 }, view.x.title));
  const line = shape("path", { class: "axis", d: `M${box.left} 39.5H${box.right}` });
  for (const [tick, text] of ticks(view.x, view.sx.domain, box.right - box.left, 68)) {
    svg.append(shape("text", { x: view.sx(tick), y: 33, "text-anchor": "middle" }, text));
  }
  svg.append(line);
  return svg;
}

function rows(svg, view, box) {
  for (const [tick] of ticks(view.x, view.sx.domain, box.right - box.left, 68)) {
    svg.append(shape("path", { class: "grid", d: `M${view.sx(tick)} ${box.top}V${box.bottom}` }));
  }
  view.plot.categories.forEach((name, row) => {
    const y = view.sy(row);
    const text = fitted(name, box.narrow ? box.width - 16 : box.left - 18);
    const place = box.narrow ? { x: box.left, y: y - 10 } : { x: box.left - 12, y: y + 4, "text-anchor": "end" };
    const label = shape("text", { class: "label", ...place }, text);
    if (text !== name) label.append(shape("title", {}, name));
    svg.append(label, shape("path", { class: "grid", d: `M${box.left} ${y}H${box.right}`, "stroke-dasharray": "1 3" }));
  });
}

function axes(svg, view, box) {
  for (const [tick, text] of ticks(view.x, view.sx.domain, box.right - box.left, 72)) {
    const x = view.sx(tick);
    if (x < box.left - 1 || x > box.right + 1) continue;
    svg.append(shape("path", { class: "grid", d: `M${x} ${box.top}V${box.bottom}` }));
    svg.append(shape("text", { x, y: box.bottom + 16, "text-anchor": "middle" }, text));
  }
  for (const [tick, text] of ticks(view.y, view.sy.domain, box.bottom - box.top, 34)) {
    const y = view.sy(tick);
    svg.append(shape("path", { class: "grid", d: `M${box.left} ${y}H${box.right}` }));
    svg.append(shape("text", { x: box.left - 7, y: y + 4, "text-anchor": "end" }, text));
  }
  svg.append(shape("path", { class: "axis", d: `M${box.left} ${box.bottom}H${box.right}` }));
  svg.append(shape("text", { class: "title", x: 2, y: 12 }, view.y.title));
  svg.append(shape("text", { class: "title", x: box.right, y: box.bottom + 35, "text-anchor": "end" }, view.x.title));
}

function guides(inside, svg, view, box) {
  let written = 0;
  for (const guide of view.plot.guides) {
    const path = guidePath(view, box, guide);
    if (!path) continue;
    inside.append(shape("path", { class: "guide", d: path.d }));
    if (!guide.text || view.dots || written > 5) continue;
    svg.append(shape("text", { x: path.x, y: path.y, "text-anchor": path.anchor || "start" }, guide.text));
    written += 1;
  }
}

function guidePath(view, box, guide) {
  if (guide.guide === "vertical") {
    const x = view.sx(guide.at);
    if (!(x >= box.left && x <= box.right)) return null;
    const late = x > (box.left + box.right) / 2;
    return { d: `M${x} ${box.top}V${box.bottom}`, x: x + (late ? -5 : 5), y: box.top + 12, anchor: late ? "end" : "start" };
  }
  if (guide.guide === "horizontal") {
    const y = view.sy(guide.at);
    return { d: `M${box.left} ${y}H${box.right}`, x: box.left + 5, y: y - 4 };
  }
  const steps = Array.from({ length: 41 }, (_, i) => view.sx.invert(box.left + (box.right - box.left) * i / 40));
  const points = steps.filter((v) => Number.isFinite(view.sy(v))).map((v) => [view.sx(v), view.sy(v)]);
  const low = points.find(([, y]) => y <= box.bottom);
  if (!low) return null;
  const seen = points.filter(([, y]) => y >= box.top && y <= box.bottom);
  const label = seen[Math.floor(seen.length * 0.7)] || low;
  return { d: polyline(points), x: label[0] + 8, y: label[1] + 14 };
}

function polyline(points) {
  return points.map(([x, y], i) => `${i ? "L" : "M"}${x.toFixed(1)} ${y.toFixed(1)}`).join("");
}

function stairs(points) {
  return points.map(([x, y], i) => (i ? `H${x.toFixed(1)}V${y.toFixed(1)}` : `M${x.toFixed(1)} ${y.toFixed(1)}`)).join("");
}

function drawSeries(inside, view, series) {
  const group = shape("g", { class: `s${series.colour}` });
  const placed = place(view, series);
  const at = placed.map(({ px, py }) => [px, py]);
  if (series.drawn === "line") group.append(shape("path", { class: "line", d: polyline(at), "stroke-dasharray": dash(series) }));
  if (series.drawn === "steps") group.append(shape("path", { class: "line", d: stairs(at), "stroke-dasharray": dash(series) }));
  if (series.drawn === "sticks") {
    // Among rows they are bars from the left.
    const stick = ([x, y]) => (view.dots ? `M${view.box.left} ${y.toFixed(1)}H${x.toFixed(1)}` : `M${x.toFixed(1)} ${view.box.bottom}V${y.toFixed(1)}`);
    group.append(shape("path", { class: view.dots ? "sticks bars" : "sticks", d: at.map(stick).join("") }));
  } else {
    group.append(shape("path", { class: "whisker", d: placed.map((mark) => whisker(view, mark)).join("") }));
  }
  if (series.drawn === "points" || series.drawn === "line") {
    const { path, hollow } = marker(series);
    const d = at.map(([x, y]) => path(Number(x.toFixed(1)), Number(y.toFixed(1)), hollow ? 3.4 : 4)).join("");
    group.append(shape("path", { class: hollow ? "points hollow" : "points", d }));
  }
  inside.append(group);
  view.marks.push(...placed);
}

function place(view, series) {
  const marks = [];
  for (const point of series.points) {
    const px = view.sx(point[0]), py = view.sy(point[1]);
    if (!Number.isFinite(px) || !Number.isFinite(py)) continue;
    marks.push({ series, point, px, py });
  }
  return marks;
}

function whisker(view, { point, px, py }) {
  const limits = point[2];
  if (!limits) return "";
  const axis = view.dots ? view.sx : view.sy;
  const floor = axis.domain[0];
  const [low, high] = limits.map((value) => axis(view[view.dots ? "x" : "y"].log ? Math.max(value, floor) : value));
  if (Math.abs(high - low) < 2) return "";
  return view.dots
    ? `M${low.toFixed(1)} ${py}H${high.toFixed(1)}M${low.toFixed(1)} ${py - 3}v6M${high.toFixed(1)} ${py - 3}v6`
    : `M${px} ${low.toFixed(1)}V${high.toFixed(1)}M${px - 3} ${low.toFixed(1)}h6M${px - 3} ${high.toFixed(1)}h6`;
}
