// What plots and evidence are made of: elements, numbers in words, scales and their ticks.
// The files of this folder are one script, in the order basics, plots, reading, page, inside one function. No dependencies.

const SVG = "http://www.w3.org/2000/svg";
const root = document.documentElement;
const THIN = "\u202f";

// What a test can see of the script: how many plots were drawn, how many errors there were.
root.dataset.plots = "0";
root.dataset.errors = "0";
addEventListener("error", () => { root.dataset.errors = String(Number(root.dataset.errors) + 1); });

// ------------------------------------------------------------------------------------------------------------ elements

function element(name, attributes = {}, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  made.append(...children);
  return made;
}

function shape(name, attributes = {}, text = "") {
  const made = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  if (text) made.textContent = text;
  return made;
}

// ------------------------------------------------------------------------------------------------------------- numbers

const SCALES = {
  nanoseconds: [["s", 1e9], ["ms", 1e6], ["µs", 1e3], ["ns", 1]],
  per_second: [["M/s", 1e6], ["k/s", 1e3], ["/s", 1]],
  bytes_per_second: [["GB/s", 1e9], ["MB/s", 1e6], ["kB/s", 1e3], ["B/s", 1]],
  bytes: [["GiB", 2 ** 30], ["MiB", 2 ** 20], ["KiB", 2 ** 10], ["B", 1]],
  ratio: [["×", 1]],
  share: [["%", 0.01]],
};

function plain(value) {
  if (value === 0) return "0";
  const digits = Math.max(0, 2 - Math.floor(Math.log10(Math.abs(value))));
  const [whole, part] = Math.abs(value).toFixed(Math.min(digits, 6)).split(".");
  const fraction = part ? part.replace(/0+$/, "") : "";
  const grouped = whole.length > 4 ? whole.replace(/\B(?=(\d{3})+$)/g, THIN) : whole;
  return (value < 0 ? "\u2212" : "") + grouped + (fraction ? "." + fraction : "");
}

function written(value, unit) {
  if (unit === "nines") return percent(value);
  return inScale(value, scaleFor(unit, value));
}

// The unit, with its size in base units, in which a value is read most easily.
function scaleFor(unit, value) {
  const scales = SCALES[unit] || [["", 1]];
  const size = Math.abs(value) * 1.0005;
  return scales.find(([, factor]) => size >= factor) || scales[scales.length - 1];
}

function inScale(value, [symbol, factor]) {
  return plain(value / factor) + (symbol && symbol !== "×" ? THIN : "") + symbol;
}

function percent(nines) {
  const share = 100 * (1 - 1 / nines);
  const decimals = Math.max(0, Math.ceil(Math.log10(nines) - 1e-9) - 2);
  return share.toFixed(Math.min(decimals, 7)) + THIN + "%";
}

// -------------------------------------------------------------------------------------------------------------- scales

function scale(domain, range, log) {
  const forward = log ? Math.log10 : (value) => value;
  const back = log ? (value) => 10 ** value : (value) => value;
  const [low, high] = domain.map(forward);
  const stretch = (range[1] - range[0]) / (high - low || 1);
  const place = (value) => range[0] + (forward(value) - low) * stretch;
  place.invert = (pixel) => back(low + (pixel - range[0]) / stretch);
  place.domain = domain;
  return place;
}

function padded([low, high], log) {
  if (log) {
    const pad = Math.max((high / low) ** 0.04, 1.06);
    return [low / pad, high * pad];
  }
  const pad = (high - low) * 0.04 || Math.abs(high) * 0.1 || 1;
  return [low >= 0 && low - pad < 0 ? 0 : low - pad, high + pad];
}

function extent(values, log) {
  let low = Infinity, high = -Infinity;
  for (const value of values) {
    if (!Number.isFinite(value) || (log && value <= 0)) continue;
    low = Math.min(low, value);
    high = Math.max(high, value);
  }
  return low <= high ? [low, high] : null;
}

// Steps are round numbers of `size`.
function linearTicks([low, high], count, size = 1) {
  const rough = (high - low) / count;
  const power = 10 ** Math.floor(Math.log10(rough / size)) * size;
  const step = [1, 2, 5, 10].map((m) => m * power).find((s) => s >= rough) || rough;
  const ticks = [];
  for (let i = Math.ceil(low / step); i * step <= high && ticks.length < 50; i += 1) ticks.push(i * step);
  return ticks;
}

// Powers of the base; `null` where fewer than two are inside.
function logTicks([low, high], count, base = 10) {
  const digits = base === 10 ? [1, 2, 5] : [1];
  const all = [];
  for (let power = Math.floor(Math.log(low) / Math.log(base)); base ** power <= high * 1.0001; power += 1) {
    for (const digit of digits) all.push([digit, digit * base ** power]);
  }
  const inside = all.filter(([, value]) => value >= low * 0.9999 && value <= high * 1.0001);
  if (inside.length < 2) return null;
  const whole = inside.filter(([digit]) => digit === 1).map(([, value]) => value);
  if (inside.length <= count) return inside.map(([, value]) => value);
  const stride = Math.ceil(whole.length / count);
  return whole.filter((_, index) => index % stride === 0);
}

// Ticks with what is written at them.
function ticks(axis, domain, pixels, room) {
  const count = Math.max(2, Math.floor(pixels / room));
  const powers = axis.log ? powerTicks(axis.unit, domain, count) : null;
  if (powers) return powers.map((tick) => [tick, written(tick, axis.unit)]);
  // Units of sizes are no powers of ten of one another: what is round in one is not in the next, so that all ticks have the one of the largest.
  const largest = axis.unit === "bytes" ? scaleFor("bytes", Math.max(...domain.map(Math.abs))) : null;
  const even = linearTicks(domain, count, largest ? largest[1] : 1);
  return even.map((tick) => [tick, largest ? inScale(tick, largest) : written(tick, axis.unit)]);
}

function powerTicks(unit, domain, count) {
  if (unit !== "nines") return logTicks(domain, count, unit === "bytes" ? 2 : 10);
  const all = logTicks(domain, count) || linearTicks(domain, count);
  return [1, 2, ...all.filter((t) => t >= 10 && Number.isInteger(Math.round(Math.log10(t) * 1e6) / 1e6))];
}
