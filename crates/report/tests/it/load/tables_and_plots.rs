//! Tables by figure with a request's cost first, and curves over connections, concurrency and parts
//! of a server's capacity.

use super::{load, plots, run, tables};
use crate::sample::{self, identity, result};
use antiphon_lab::{ClosedLoop, Outcome, RunRecord};
use antiphon_report::compose;
use antiphon_report::document::{Cell, Table};
use antiphon_report::export::csv;

#[test]
fn what_a_request_costs_comes_first() {
    let document = compose(&run());
    let tables = tables(&document, "group-over");
    assert!(
        tables[0].title.contains("Processor time"),
        "{}",
        tables[0].title
    );
    assert!(tables[1].title.contains("Requests a second"));
    let Cell::Figure(cost) = &tables[0].rows[1].cells[1] else {
        panic!("no figure in {:?}", tables[0].rows[1]);
    };
    assert_eq!((cost.value, cost.high), (12_000.0, 120_000.0));
    assert!(cost.marks.iter().any(|mark| mark.word == "starves"));
    // The table of everything has the share of the first server, by rounds.
    let full = tables.last().unwrap();
    let Cell::Figure(share) = &full.rows[1].cells[1] else {
        panic!("no share in {:?}", full.rows[1]);
    };
    assert_eq!(share.value, 2.4);
    // All rounds agree; by how much another start might differ, one cannot show.
    let unseen = 2.4 * 0.055;
    assert!((share.high - 2.4 - unseen).abs() < 0.01 && (2.4 - share.low - unseen).abs() < 0.01);
}

#[test]
fn curves_go_over_connections_and_memory_has_a_row_a_server() {
    let document = compose(&run());
    let curves = plots(&document, "group-over");
    assert_eq!(curves.len(), 3);
    let xs: Vec<f64> = curves[0].series[0]
        .points
        .iter()
        .map(|point| point.x)
        .collect();
    assert_eq!(xs, [1.0, 64.0]);
    let memory = &plots(&document, "load-memory")[0];
    assert_eq!(memory.categories, ["ada/tasks", "java/grizzly"]);
    // Its memory is that after the last load.
    assert_eq!(memory.series[0].points[0].x, (9_u64 << 20) as f64);
}

/// Tests two loads that are parts of each server's capacity, 200 and 300 requests a second.
#[test]
fn parts_of_what_a_server_can_have_plots_of_their_own() {
    let mut run = run();
    run.suite_toml = run.suite_toml.replacen(
        "seconds = 1.0\n",
        "seconds = 1.0\n[[group]]\nid = \"parts\"\ntitle = \"Parts\"\nruns = [\"other.across\"]\n[[group.row]]\nkind = \"load\"\ntest = \"of.{p}\"\n\
         label = \"{p} %\"\neach = { p = [\"50\", \"80\"] }\nconnections = \"64\"\npercent_of_closed = \"{p}\"\npath = \"/api\"\nbody = \"x\"\nseconds = 1.0\n",
        1,
    );
    for (subject, can) in [("ada/tasks", 200.0), ("java/grizzly", 300.0)] {
        for percent in [50.0, 80.0] {
            let mut load = load(64, 5000, 9);
            load.task.percent_of_closed = Some(percent);
            for round in &mut load.rounds {
                round.closed = Some(ClosedLoop {
                    per_second: can,
                    generator_share: 0.5,
                    generator_limited: false,
                });
            }
            let identity = identity(&format!("of.{percent}"), subject, "other", "across");
            run.results
                .push(result(identity, Outcome::Load(Box::new(load))));
        }
    }
    let document = compose(&run);
    let curves = plots(&document, "group-parts");
    let titles: Vec<&str> = curves.iter().map(|plot| plot.title.as_str()).collect();
    assert_eq!(
        titles,
        [
            "Processor time of the server a request over load (other, across)",
            "Latency at 99 % over load (other, across)"
        ]
    );
    for server in &curves[1].series {
        let at: Vec<f64> = server.points.iter().map(|point| point.x).collect();
        assert_eq!(at, [50.0, 80.0]);
    }
    let full = tables(&document, "group-parts");
    let full = full.iter().find(|table| table.folded).unwrap();
    let titles = |table: &Table| -> Vec<String> {
        let columns = table.columns.iter();
        columns.map(|column| column.title.clone()).collect()
    };
    let can = titles(full)
        .iter()
        .position(|title| title == "In closed loop/s");
    let Cell::Figure(of_java) = &full.rows[1].cells[can.unwrap()] else {
        panic!("no rate in {:?}", full.rows[1]);
    };
    assert_eq!(of_java.value, 300.0);
    // Other loads have no such column, and no such points.
    let others = tables(&document, "group-over");
    assert!(
        others
            .iter()
            .all(|table| !titles(table).contains(&"In closed loop/s".to_owned()))
    );
    assert_eq!(plots(&document, "group-over").len(), 3);
    assert!(
        csv::runs(&[run])
            .unwrap()
            .contains("load_closed_per_second")
    );
}

#[test]
fn what_compilers_use_is_told_beside_processor_time_where_there_are_any() {
    let reported = |language: &str| -> Vec<String> {
        let mut run = run();
        run.subjects = sample::many_subjects();
        run.subjects.truncate(1);
        run.subjects[0].language = language.into();
        let tables = tables(&compose(&run), "group-over").into_iter();
        let reported = tables.filter(|table| table.caption.contains("HotSpot"));
        reported.map(|table| table.title).collect()
    };
    assert!(reported("Ada").is_empty());
    for language in ["Java", "JavaScript"] {
        assert_eq!(
            reported(language),
            [
                "Over concurrency: Processor time of the server a request",
                "1 connections: all figures",
                "64 connections: all figures"
            ]
        );
    }
}

#[test]
fn loads_without_kept_connections_say_so_where_they_are_plotted() {
    let mut run = run();
    let titles = |run: &RunRecord| -> Vec<String> {
        let plots = plots(&compose(run), "group-over").into_iter();
        plots
            .map(|plot| plot.title)
            .filter(|title| title.contains("over conc"))
            .collect()
    };
    let kept = titles(&run);
    assert!(
        !kept.is_empty() && kept.iter().all(|title| !title.contains("keep")),
        "{kept:?}"
    );
    for result in &mut run.results {
        if let Outcome::Load(load) = &mut result.outcome {
            load.task.keep_alive = false;
        }
    }
    let anew = titles(&run);
    assert_eq!(anew.len(), kept.len());
    assert!(
        anew.iter()
            .all(|title| title.contains("over concurrency, no keep-alive (")),
        "{anew:?}"
    );
}
