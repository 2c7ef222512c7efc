//! The page in a browser: no errors, every plot drawn, nothing wider than a telephone, evidence and
//! keys that work. It needs Chromium; without it each test says so and passes.

use crate::sample;
use crate::sample::plots::{one, plotted, series};
use antiphon_report::document::{AxisUnit, Block, Document, Drawn, Point};
use antiphon_report::{compose, export::html};
use std::path::{Path, PathBuf};
use std::process::Command;

const NAMES: [&str; 4] = [
    "chromium",
    "chromium-browser",
    "google-chrome",
    "google-chrome-stable",
];

/// Returns the browser's path; `None`, with the reason printed, without one.
fn browser() -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    let candidates = std::env::split_paths(&path).flat_map(|dir| NAMES.map(|name| dir.join(name)));
    let found = candidates.into_iter().find(|candidate| candidate.is_file());
    if found.is_none() {
        eprintln!(
            "skipped: no Chromium in PATH (tried {}); apt install chromium",
            NAMES.join(", ")
        );
    }
    found
}

/// Returns the document of a page after its scripts ran, and the browser's messages.
fn open(browser: &Path, page: &Path, width: u32) -> (String, String) {
    let profile = tempfile::tempdir().expect("a profile directory");
    let output = Command::new(browser)
        .args([
            "--headless",
            "--no-sandbox",
            "--disable-gpu",
            "--disable-quic",
            "--no-first-run",
        ])
        .args([
            "--disable-background-networking",
            "--disable-component-update",
            "--disable-sync",
        ])
        .args([
            "--disable-dev-shm-usage",
            "--enable-logging=stderr",
            "--v=0",
        ])
        .args(["--virtual-time-budget=5000", "--dump-dom"])
        .arg(format!("--user-data-dir={}", profile.path().display()))
        .arg(format!("--window-size={width},900"))
        .arg(format!("file://{}", page.display()))
        .output()
        .expect("the browser starts");
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (text(&output.stdout), text(&output.stderr))
}

/// Returns the value of an attribute that a page's script has set.
fn attribute(dom: &str, name: &str) -> String {
    let start = dom
        .find(&format!("{name}=\""))
        .unwrap_or_else(|| panic!("no {name} in the page: {:.300}", dom));
    dom[start + name.len() + 2..]
        .chars()
        .take_while(|c| *c != '"')
        .collect()
}

fn assert_sound(dom: &str, messages: &str, plots: usize) {
    let console: Vec<&str> = messages
        .lines()
        .filter(|line| line.contains("CONSOLE"))
        .collect();
    assert!(console.is_empty(), "the console says: {console:#?}");
    assert_eq!(attribute(dom, "data-errors"), "0");
    assert_eq!(attribute(dom, "data-plots"), plots.to_string());
}

/// Adds a probe to the page's end: a script that makes a trial, once all plots are drawn, and
/// leaves its result in `data-probe`.
fn with_probe(page: &str, probe: &str) -> String {
    let script = format!(
        "<script>addEventListener('load', () => {{ const probe = async () => {{ {probe} }};\
         const root = document.documentElement;\
         const make = async () => {{ root.dataset.probe = JSON.stringify(await probe()); }};\
         const wait = () => setTimeout(root.dataset.drawn ? make : wait, 200);\
         wait(); }});</script></body>"
    );
    page.replacen("</body>", &script, 1)
}

fn write(directory: &Path, name: &str, text: &str) -> PathBuf {
    let path = directory.join(name);
    std::fs::write(&path, text).expect("the page is written");
    path
}

fn pages() -> [(&'static str, String, usize); 2] {
    [("quick", true), ("full", false)].map(|(name, quick)| {
        let page = html::render(&compose(&sample::run(quick)));
        let plots = page.matches("<figure class=\"plot\"").count();
        assert!(plots > 15, "{name} has {plots} plots");
        (name, page, plots)
    })
}

#[test]
fn the_page_draws_every_plot_without_errors() {
    let Some(browser) = browser() else { return };
    let directory = tempfile::tempdir().expect("a directory");
    for (name, page, plots) in pages() {
        let probe = "return [...document.querySelectorAll('figure.plot')].filter((f) => \
            !f.querySelector('.canvas svg:not(.head) path.points, .canvas path.line, .canvas path.sticks')).length";
        let path = write(
            directory.path(),
            &format!("{name}.html"),
            &with_probe(&page, probe),
        );
        let (dom, messages) = open(&browser, &path, 1280);
        assert_sound(&dom, &messages, plots);
        assert_eq!(
            attribute(&dom, "data-probe"),
            "0",
            "plots without data in {name}"
        );
        // Packed evidence may have any three letters.
        let drawn = dom.split("<script id=").next().unwrap_or_default();
        assert!(
            !drawn.contains("NaN"),
            "a coordinate of {name} is not a number"
        );
    }
}

/// Headless windows are at least 500 pixels wide, so the page is put in a frame of 390.
#[test]
fn a_telephone_shows_it_without_scrolling_sideways() {
    let Some(browser) = browser() else { return };
    let directory = tempfile::tempdir().expect("a directory");
    for (name, page, _) in pages() {
        // A row is signed in sight where one of its cells is, and nothing stays folded on paper.
        let probe = "const unsigned = () => [...document.querySelectorAll('tbody tr')].filter((row) => \
            row.querySelector('td abbr, td.lacking, td.missing, td .mark, td .withheld')).filter((row) => { \
            const sign = row.querySelector('th .signs'); \
            return !sign || sign.getBoundingClientRect().right > document.documentElement.clientWidth; }).length; \
            const folded = () => { const count = () => document.querySelectorAll('details[data-folds]:not([open])').length; \
            const before = count(); dispatchEvent(new Event('beforeprint')); const on_paper = count(); \
            dispatchEvent(new Event('afterprint')); return `${before > 0} ${on_paper} ${count() === before}`; }; \
            const wide = [...document.querySelectorAll('body *')].filter((e) => !e.closest('.scroll, pre, svg, .canvas') \
            && e.getBoundingClientRect().right > document.documentElement.clientWidth + 1).map((e) => e.tagName + '.' + e.className); \
            const seen = [innerWidth, document.documentElement.scrollWidth, document.documentElement.dataset.plots, \
            document.documentElement.dataset.errors, wide.slice(0, 5).join(' '), unsigned(), folded()]; parent.postMessage(seen, '*'); return seen";
        write(
            directory.path(),
            &format!("{name}.html"),
            &with_probe(&page, probe),
        );
        let frame = format!(
            "<!DOCTYPE html><html><body><iframe width=390 height=844 style='border:0' src='{name}.html'></iframe>\
             <script>addEventListener('message', (e) => {{ document.documentElement.dataset.seen = e.data.join('|'); }});</script></body></html>"
        );
        let outer = write(directory.path(), &format!("{name}-frame.html"), &frame);
        let (dom, messages) = open(&browser, &outer, 1000);
        let seen = attribute(&dom, "data-seen");
        let parts: Vec<&str> = seen.split('|').collect();
        assert_eq!(parts[0], "390", "{seen}\n{messages}");
        let width: u32 = parts[1].parse().expect("a width");
        assert!(width <= 390, "{name} is wider than its window: {seen}");
        assert_ne!(parts[2], "0", "plots are drawn");
        assert_eq!(parts[3], "0", "no errors");
        assert_eq!(parts[4], "", "elements reach beyond the window");
        assert_eq!(
            parts[5], "0",
            "rows of {name} without the signs of their cells"
        );
        assert_eq!(
            parts[6], "true 0 true",
            "folded, on paper, and folded again"
        );
        assert!(!messages.contains("CONSOLE"), "{messages}");
    }
}

#[test]
fn without_scripts_nothing_is_folded_and_every_sign_is_in_the_page() {
    for (name, page, _) in pages() {
        let folds = page.matches("data-folds").count();
        let open = page.matches(" open data-folds>").count();
        // The script and the style name it as well.
        let body = page.split("<script id=").next().unwrap_or_default();
        let body = body.split("</style>").nth(1).unwrap_or_default();
        assert!(
            open > 0 && body.matches("data-folds").count() == open,
            "{name}: {open} of {folds}"
        );
        assert!(body.contains("class=\"signs\"") && body.contains("<abbr title="));
    }
}

#[test]
fn figures_show_their_evidence_and_plots_answer_keys() {
    let Some(browser) = browser() else { return };
    let directory = tempfile::tempdir().expect("a directory");
    let (_, page, plots) = pages().into_iter().next().expect("a page");
    let probe = "
        const found = {}, panel = document.getElementById('evidence');
        const button = document.querySelector('td button');
        button.click();
        while (panel.hidden) await new Promise((done) => setTimeout(done, 20));
        found.evidence = panel.textContent; found.open = button.getAttribute('aria-expanded');
        document.dispatchEvent(new KeyboardEvent('keydown', { key: 'Escape', bubbles: true }));
        found.closed = panel.hidden;
        const figure = document.querySelector('#group-calls figure.plot');
        const svg = () => figure.querySelector('svg:not(.head)[tabindex]');
        const press = (key) => svg().dispatchEvent(new KeyboardEvent('keydown', { key }));
        press('ArrowRight');
        found.tip = figure.querySelector('.tip').textContent;
        press('+');
        const reset = [...figure.querySelectorAll('.controls button')].find((b) => b.textContent === 'show all');
        found.zoomed = !reset.hidden;
        press('Escape');
        found.whole = reset.hidden;
        const markers = () => figure.querySelectorAll('path.points').length;
        const before = markers();
        figure.querySelector('.legend button').click();
        found.hidden = [before, markers() - figure.querySelectorAll('.legend path.points').length];
        const scale = figure.querySelector('.controls button');
        scale.click();
        found.linear = scale.getAttribute('aria-pressed');
        const filter = document.querySelector('input.filter');
        filter.value = 'inline no'; filter.dispatchEvent(new Event('input'));
        const rows = [...document.querySelector('.filter + .scroll').querySelectorAll('tbody tr')];
        found.rows = rows.filter((r) => !r.hidden).map((r) => r.querySelector('th').textContent);
        return found";
    let path = write(directory.path(), "page.html", &with_probe(&page, probe));
    let (dom, messages) = open(&browser, &path, 1280);
    assert_sound(&dom, &messages, plots);
    let found = attribute(&dom, "data-probe")
        .replace("&quot;", "\"")
        .replace("&amp;", "&");
    let found: serde_json::Value = serde_json::from_str(&found).expect(&found);
    let evidence = found["evidence"].as_str().expect("text");
    let facts = [
        "Cost, bootstrap",
        "Cost, sign test",
        "Paper: minima",
        "Paper: mean",
        "Stopped because",
        "N",
        "Switches",
        "as the threads reported",
    ];
    for fact in facts {
        assert!(evidence.contains(fact), "no {fact} in {evidence}");
    }
    assert_eq!(
        (&found["open"], &found["closed"]),
        (&"true".into(), &true.into())
    );
    let tip = found["tip"].as_str().expect("text");
    assert!(
        tip.contains("inter, no parameters") && tip.contains("ns"),
        "{tip}"
    );
    assert_eq!(
        (&found["zoomed"], &found["whole"]),
        (&true.into(), &true.into())
    );
    assert_eq!(
        found["hidden"],
        serde_json::json!([4, 1]),
        "two in the legend, two drawn; then one"
    );
    assert_eq!(found["linear"], "false");
    assert_eq!(found["rows"], serde_json::json!(["inline, no parameters"]));
}

/// Changes the units of a document's first plot.
fn in_units(mut document: Document, x: AxisUnit, y: AxisUnit) -> Document {
    let Block::Plot(plot) = &mut document.sections[0].blocks[0] else {
        panic!("a plot");
    };
    (plot.x.unit, plot.y.unit) = (x, y);
    document
}

/// Returns the texts along the axes of a document's only plot.
fn ticks(browser: &Path, document: &Document) -> Vec<String> {
    let directory = tempfile::tempdir().expect("a directory");
    let probe = "return [...document.querySelectorAll('.canvas svg text:not(.title):not(.label)')].map((t) => t.textContent)";
    let page = with_probe(&html::render(document), probe);
    let path = write(directory.path(), "page.html", &page);
    // So short a page may get its scroll bar during the drawing, which the browser reports.
    let (dom, _) = open(browser, &path, 1280);
    assert_eq!(attribute(&dom, "data-plots"), "1");
    let found = attribute(&dom, "data-probe").replace("&quot;", "\"");
    let texts: Vec<String> = serde_json::from_str(&found).expect(&found);
    let plain = |text: &String| {
        text.replace(['\u{202f}', '\u{a0}'], " ")
            .replace("&nbsp;", " ")
    };
    texts.iter().map(plain).collect()
}

#[test]
fn sizes_have_ticks_that_are_round_in_the_unit_they_are_written_in() {
    const MIB: f64 = 1_048_576.0;
    let Some(browser) = browser() else { return };
    let bars = |most: f64| {
        let points = vec![Point::at(20.0 * MIB, 0.0), Point::at(most, 1.0)];
        let bars = plotted(
            &["one", "two"],
            vec![series("held", Drawn::Sticks, points)],
            false,
        );
        in_units(bars, AxisUnit::Bytes, AxisUnit::Count)
    };
    let found = ticks(&browser, &bars(150.0 * MIB));
    assert_eq!(found[0], "0 MiB", "{found:?}");
    let step = |found: &[String]| found[1].clone();
    assert!(
        ["10 MiB", "20 MiB", "50 MiB"].contains(&step(&found).as_str()),
        "{found:?}"
    );
    // In one unit, as a tenth of one is round, and of the next smaller one 102.4 are not.
    let found = ticks(&browser, &bars(1500.0 * MIB));
    assert!(found.iter().all(|tick| tick.ends_with(" GiB")), "{found:?}");
    assert!(
        ["0.1 GiB", "0.2 GiB"].contains(&step(&found).as_str()),
        "{found:?}"
    );
}

#[test]
fn shares_are_written_in_per_cent_along_axes_too() {
    let Some(browser) = browser() else { return };
    let points = vec![Point::at(1.0, 0.02), Point::at(8.0, 0.97)];
    let plot = one(&[], Drawn::Line, points, false);
    let found = ticks(&browser, &in_units(plot, AxisUnit::Count, AxisUnit::Share));
    let shares: Vec<&String> = found.iter().filter(|tick| tick.ends_with(" %")).collect();
    assert!(
        shares.len() > 3 && found.contains(&"100 %".to_owned()),
        "{found:?}"
    );
    assert!(found.iter().all(|tick| !tick.contains('×')), "{found:?}");
}

/// The pinned version of axe-core, which checks pages for what keeps people with disabilities out.
const AXE: &str = "axe-core@4.14.1";

/// Returns the script of axe-core from npm. Without npm, or without a network outside of continuous
/// integration, it says so and returns `None`.
fn axe(directory: &Path) -> Option<String> {
    let packed = Command::new("npm")
        .args(["pack", AXE, "--silent", "--prefer-offline"])
        .current_dir(directory)
        .output();
    let Ok(packed) = packed else {
        eprintln!("skipped: `npm` is needed (apt-get install npm)");
        return None;
    };
    if !packed.status.success() {
        let why = String::from_utf8_lossy(&packed.stderr).into_owned();
        assert!(std::env::var_os("CI").is_none(), "npm pack {AXE}: {why}");
        eprintln!("skipped: {AXE} cannot be fetched: {why}");
        return None;
    }
    let archive = String::from_utf8_lossy(&packed.stdout).trim().to_owned();
    let unpacked = Command::new("tar")
        .args(["xzf", &archive, "package/axe.min.js"])
        .current_dir(directory)
        .status();
    assert!(unpacked.is_ok_and(|status| status.success()), "{archive}");
    let script = std::fs::read_to_string(directory.join("package/axe.min.js"));
    Some(script.expect("the script of axe-core"))
}

/// Every fold is open, so that nothing is left out.
#[test]
fn nothing_keeps_people_with_disabilities_out() {
    let Some(browser) = browser() else { return };
    let directory = tempfile::tempdir().expect("a directory");
    let Some(axe) = axe(directory.path()) else {
        return;
    };
    let document = compose(&sample::run(true));
    let page = html::render(&document);
    let plots = page.matches("<figure class=\"plot\"").count();
    let run = format!(
        "<script>{axe}</script><script>addEventListener('load', () => setTimeout(async () => {{ \
         for (const fold of document.querySelectorAll('details')) fold.open = true; \
         const found = await axe.run(document, {{ resultTypes: ['violations'] }}); \
         document.documentElement.dataset.probe = JSON.stringify(found.violations.map((one) => \
         [one.id, one.nodes.length, one.nodes[0].html.slice(0, 120), one.nodes[0].failureSummary])); }}, 500));</script></body>"
    );
    let page = page.replacen("</body>", &run, 1);
    let path = write(directory.path(), "page.html", &page);
    let (dom, messages) = open(&browser, &path, 1280);
    assert_sound(&dom, &messages, plots);
    assert_eq!(attribute(&dom, "data-probe"), "[]");
}
