// The rest of the page: evidence of figures, searching in long tables, the contents; and the start of it all.

// ------------------------------------------------------------------------------------------------------------ evidence

// Evidence is packed, because there is as much of it as of all the rest.
async function unpacked(id) {
  const bytes = Uint8Array.from(atob(document.getElementById(id).textContent), (c) => c.charCodeAt(0));
  const stream = new DecompressionStream("deflate"), writer = stream.writable.getWriter();
  writer.write(bytes);
  writer.close();
  return new Response(stream.readable).json();
}

function startEvidence() {
  const panel = document.getElementById("evidence");
  const numbers = new Map();
  let evidence = null, open = null, pinned = false;
  // Numbers and attributes are given here, as there are thousands of figures in a page.
  document.querySelectorAll("td button").forEach((button, number) => {
    numbers.set(button, number);
    button.setAttribute("aria-expanded", "false");
    button.setAttribute("aria-controls", "evidence");
  });
  unpacked("packed-evidence")
    .catch(() => ({ failure: "This browser cannot unpack what stands behind the figures. A newer one can." }))
    .then((found) => { evidence = found; if (open) show(open); });

  function facts(button) {
    if (evidence.failure) return element("p", {}, evidence.failure);
    const [names, texts] = evidence.figures[numbers.get(button)];
    const list = element("dl");
    texts.forEach((text, index) => {
      const whole = typeof text === "number" ? evidence.texts[text] : text;
      list.append(element("div", {}, element("dt", {}, evidence.labels[names][index]), element("dd", {}, whole)));
    });
    return list;
  }

  function show(button) {
    if (open && open !== button) open.setAttribute("aria-expanded", "false");
    open = button;
    button.setAttribute("aria-expanded", "true");
    if (!evidence) return;
    const close = element("button", { type: "button", "aria-label": "Close" }, "×");
    close.addEventListener("click", hide);
    panel.replaceChildren(...(pinned ? [close] : []), facts(button));
    panel.hidden = false;
    position(button);
  }

  function position(button) {
    if (getComputedStyle(panel).position === "fixed") { panel.removeAttribute("style"); return; }
    const at = button.getBoundingClientRect();
    const left = Math.min(at.left, root.clientWidth - panel.offsetWidth - 12);
    const above = at.bottom + panel.offsetHeight + 8 > innerHeight && at.top > panel.offsetHeight + 8;
    panel.style.left = `${Math.max(8, left) + scrollX}px`;
    panel.style.top = `${(above ? at.top - panel.offsetHeight - 6 : at.bottom + 6) + scrollY}px`;
  }

  function hide() {
    panel.hidden = true;
    pinned = false;
    if (open) open.setAttribute("aria-expanded", "false");
    open = null;
  }

  const figureOf = (event) => event.target instanceof Element ? event.target.closest("td button") : null;
  document.addEventListener("click", (event) => {
    const button = figureOf(event);
    if (button) {
      if (pinned && open === button) return hide();
      pinned = true;
      show(button);
    } else if (!panel.contains(event.target)) {
      hide();
    }
  });
  document.addEventListener("pointerover", (event) => {
    if (event.pointerType !== "mouse" || pinned) return;
    const button = figureOf(event);
    if (button) show(button);
    else if (open && !panel.contains(event.target)) hide();
  });
  document.addEventListener("keydown", (event) => {
    if (event.key !== "Escape" || !open) return;
    const button = open;
    hide();
    button.focus();
  });
}

// -------------------------------------------------------------------------------------------------------------- tables

// Long tables can be searched.
function startFilter(box) {
  const rows = [...box.querySelectorAll("tbody tr")];
  if (rows.length < 20) return;
  const title = box.getAttribute("aria-label");
  const input = element("input", { type: "search", class: "filter", placeholder: `Filter ${rows.length} rows`, "aria-label": `Filter: ${title}` });
  input.addEventListener("input", () => {
    const words = input.value.toLowerCase().split(/\s+/).filter(Boolean);
    for (const row of rows) {
      const text = row.textContent.toLowerCase();
      row.hidden = !words.every((word) => text.includes(word));
    }
  });
  box.before(input);
}

// The contents show where the reader is.
function startContents() {
  const links = new Map([...document.querySelectorAll(".contents a")].map((link) => [link.getAttribute("href").slice(1), link]));
  const observer = new IntersectionObserver((entries) => {
    for (const entry of entries) {
      if (!entry.isIntersecting) continue;
      for (const link of links.values()) link.removeAttribute("aria-current");
      const link = links.get(entry.target.id);
      if (!link) continue;
      link.setAttribute("aria-current", "true");
      const part = link.closest("details");
      for (const other of document.querySelectorAll(".contents details")) other.open = other === part;
    }
  }, { rootMargin: "-10% 0px -80% 0px" });
  for (const section of document.querySelectorAll("main > section")) observer.observe(section);
}

// Without scripts, and on paper, what can be folded is open: so it is written, and folded here.
function startFolds() {
  for (const fold of document.querySelectorAll("details[data-folds]")) fold.open = false;
  let opened = [];
  addEventListener("beforeprint", () => {
    opened = [...document.querySelectorAll("details[data-folds]:not([open])")];
    for (const fold of opened) fold.open = true;
  });
  addEventListener("afterprint", () => {
    for (const fold of opened) fold.open = false;
    opened = [];
  });
}

// A link into a fold opens it.
function startLinks() {
  const show = () => {
    const target = location.hash && document.getElementById(decodeURIComponent(location.hash.slice(1)));
    if (!target) return;
    for (let fold = target.closest("details"); fold; fold = fold.parentElement.closest("details")) fold.open = true;
    target.scrollIntoView();
  };
  addEventListener("hashchange", show);
  show();
  return show;
}

// Plots are drawn a few at a time, so that the first screen need not wait for them; all at once for paper.
function startPlots(plots, done) {
  const waiting = [...document.querySelectorAll("figure.plot")];
  const draw = (until) => {
    while (waiting.length && performance.now() < until) {
      const figure = waiting.shift(), index = Number(figure.dataset.plot);
      startPlot(figure, plots[index], index);
    }
  };
  const step = () => {
    draw(performance.now() + 30);
    if (waiting.length) return setTimeout(step, 0);
    document.documentElement.dataset.drawn = "all";
    done();
  };
  addEventListener("beforeprint", () => draw(Infinity));
  step();
}

function start() {
  startFolds();
  const show = startLinks();
  startPlots(JSON.parse(document.getElementById("plot-data").textContent), show);
  startEvidence();
  document.querySelectorAll(".scroll").forEach(startFilter);
  startContents();
}

start();
