// The rest of the page: evidence of figures, searching in long tables, the contents; and the start of it all from the JSON in #data.

// ------------------------------------------------------------------------------------------------------------ evidence

function startEvidence(evidence) {
  const panel = document.getElementById("evidence");
  let open = null, pinned = false;

  function show(button) {
    if (open && open !== button) open.setAttribute("aria-expanded", "false");
    open = button;
    button.setAttribute("aria-expanded", "true");
    const facts = evidence.figures[Number(button.dataset.evidence)] || [];
    const list = element("dl");
    for (const [label, text] of facts) {
      list.append(element("div", {}, element("dt", {}, evidence.labels[label]), element("dd", {}, text)));
    }
    const close = element("button", { type: "button", "aria-label": "Close" }, "×");
    close.addEventListener("click", hide);
    panel.replaceChildren(...(pinned ? [close] : []), list);
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

  const figureOf = (event) => event.target instanceof Element ? event.target.closest("button.figure") : null;
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

function start() {
  const data = JSON.parse(document.getElementById("data").textContent);
  document.querySelectorAll("figure.plot").forEach((figure) => {
    const index = Number(figure.dataset.plot);
    startPlot(figure, data.plots[index], index);
  });
  startEvidence(data.evidence);
  document.querySelectorAll(".scroll").forEach(startFilter);
  startContents();
}

start();
