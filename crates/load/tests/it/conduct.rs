//! The generator before servers that answer, misbehave, or stand still.

use crate::common::{LIMIT, LONG, expected, gives_up_who_never_answers, load, server};
use antiphon_load::{Error, Fault, Load, Measured, Schedule, Stopped, first_exchange, run};
use std::time::Duration;

fn measured(conduct: &str) -> Measured {
    let server = server(conduct);
    run(&load(&server)).unwrap()
}

#[test]
fn a_server_that_answers_is_measured() {
    for conduct in [
        "well",
        "chunked",
        "bytewise",
        "interim",
        "interim-at-once",
        "lines-at-once",
    ] {
        let measured = measured(conduct);
        assert!(measured.answered > 0, "{conduct}");
        assert_eq!(
            measured.failed(),
            0,
            "{conduct}: {:?}",
            measured.first_failure
        );
        assert_eq!(
            measured.latency.count(),
            measured.answered + measured.unanswered,
            "{conduct}"
        );
        let of_connections: u64 = measured.connections.iter().map(|of| of.answered).sum();
        assert_eq!(of_connections, measured.answered, "{conduct}");
    }
}

#[test]
fn without_keep_alive_each_request_has_a_connection() {
    let server = server("well");
    let load = Load {
        keep_alive: false,
        ..load(&server)
    };
    let measured = run(&load).unwrap();
    assert!(measured.answered > 4, "{measured:?}");
    assert_eq!(measured.failed(), 0, "{:?}", measured.first_failure);
}

#[test]
fn a_server_that_closes_in_an_orderly_way_is_connected_to_again() {
    for conduct in ["polite-close", "no-length"] {
        let measured = measured(conduct);
        assert_eq!(
            measured.failed(),
            0,
            "{conduct}: {:?}",
            measured.first_failure
        );
        assert!(measured.reconnects > 0, "{conduct}");
        assert_eq!(measured.answered, 400, "{conduct}");
    }
}

#[test]
fn each_misconduct_is_a_failure_by_name_and_ends_the_run() {
    let cases = [
        ("half", "half an answer"),
        ("short", "wrong length"),
        ("other-body", "wrong body"),
        ("more", "unasked bytes"),
        ("error", "wrong status"),
        ("close", "no answer"),
        ("reset", "connection broke"),
        ("garbage", "not HTTP"),
        ("endless-head", "not HTTP"),
    ];
    for (conduct, kind) in cases {
        let measured = measured(conduct);
        assert!(
            measured.failures.contains_key(kind),
            "{conduct}: {:?}",
            measured.failures
        );
        assert_eq!(measured.stopped, Stopped::Failures, "{conduct}");
        assert!(measured.answered >= 3, "{conduct}");
        assert!(measured.first_failure.is_some(), "{conduct}");
    }
}

#[test]
fn the_body_may_be_left_unchecked() {
    let server = server("other-body");
    let load = Load {
        check_body: false,
        ..load(&server)
    };
    assert_eq!(run(&load).unwrap().failed(), 0);
}

#[test]
fn a_server_that_never_answers_is_given_up_and_its_waits_count() {
    gives_up_who_never_answers(false);
}

#[test]
fn starved_connections_are_told_from_the_others() {
    // The second connection and the fourth have three answers each. A server thread that waits for
    // a processor while the others give all answers starves its connection, too. More answers make
    // such a wait less likely.
    let tries = [(400, LIMIT), (4_000, 5 * LIMIT), (40_000, LONG)];
    let mut reported = String::new();
    let are_reported = tries.into_iter().any(|(requests_max, time_limit)| {
        let server = server("starve");
        let load = Load {
            requests_max,
            time_limit,
            ..load(&server)
        };
        let measured = run(&load).unwrap();
        reported += &format!("{:?}\n", measured.connections);
        measured.starved() == [1, 3] && measured.fairness() < 0.6
    });
    assert!(are_reported, "{reported}");
}

#[test]
fn the_first_exchange_names_what_is_wrong() {
    type Fits = fn(&Fault) -> bool;
    let cases: [(&str, Fits); 6] = [
        ("half-at-once", |fault| matches!(fault, Fault::Half { .. })),
        ("close-at-once", |fault| matches!(fault, Fault::NoAnswer)),
        ("reset-at-once", |fault| {
            matches!(fault, Fault::Broken { .. })
        }),
        ("garbage-at-once", |fault| {
            matches!(fault, Fault::NotHttp { .. })
        }),
        ("never-at-once", |fault| {
            matches!(fault, Fault::TimedOut { .. })
        }),
        ("endless-head-at-once", |fault| {
            matches!(fault, Fault::NotHttp { .. })
        }),
    ];
    for (conduct, fits) in cases {
        let server = server(conduct);
        let limit = match conduct {
            "never-at-once" => LIMIT,
            _ => LONG,
        };
        match first_exchange(&server.target, limit) {
            Err(Error::FirstExchange { fault, .. }) => {
                assert!(fits(&fault), "{conduct}: {fault:?}")
            }
            other => panic!("{conduct}: {other:?}"),
        }
    }
}

#[test]
fn a_port_without_a_server_is_an_error() {
    let gone = server("well").target.clone();
    assert!(matches!(
        first_exchange(&gone, LONG),
        Err(Error::FirstExchange {
            fault: Fault::NoConnection { .. },
            ..
        })
    ));
    let load = Load::new(gone.clone(), expected());
    assert!(matches!(run(&load), Err(Error::Connect { number: 1, .. })));
    let load = Load {
        keep_alive: false,
        ..load
    };
    let measured = run(&load).unwrap();
    assert_eq!(measured.stopped, Stopped::Failures);
    assert_eq!(measured.answered, 0);
}

#[test]
fn a_run_sends_no_more_than_it_may() {
    let server = server("well");
    let load = Load {
        requests_max: 101,
        threads: 2,
        ..load(&server)
    };
    let measured = run(&load).unwrap();
    assert_eq!(measured.answered, 101);
    assert_eq!(measured.stopped, Stopped::Requests);
    assert_eq!(measured.threads, 2);
}

#[test]
fn an_open_schedule_owes_every_request() {
    let server = server("well");
    let load = Load {
        schedule: Schedule::Open { per_second: 1000.0 },
        duration: Duration::from_millis(200),
        ..load(&server)
    };
    let measured = run(&load).unwrap();
    assert_eq!(measured.failed(), 0, "{:?}", measured.first_failure);
    assert_eq!(
        measured.answered + measured.unanswered + measured.never_sent,
        200
    );
    assert_eq!(measured.latency.count(), 200);
}

#[test]
fn what_a_run_might_not_send_is_not_owed() {
    let server = server("never");
    let load = Load {
        schedule: Schedule::Open { per_second: 1000.0 },
        duration: Duration::from_millis(200),
        // Three answers and one that never comes on each connection.
        requests_max: 16,
        time_limit: LONG,
        drain: Duration::from_millis(100),
        ..load(&server)
    };
    let measured = run(&load).unwrap();
    assert_eq!(measured.stopped, Stopped::Time);
    assert_eq!(
        measured.answered + measured.unanswered + measured.never_sent,
        16
    );
    assert_eq!(measured.latency.count(), 16);
}

#[test]
fn nothing_is_late_in_the_closed_loop() {
    let closed = measured("well");
    assert_eq!((closed.answered, closed.lag.count()), (400, 0));
    let server = server("well");
    let open = Load {
        schedule: Schedule::Open { per_second: 1000.0 },
        threads: 3,
        ..load(&server)
    };
    let open = run(&open).unwrap();
    assert_eq!((open.answered, open.lag.count()), (400, 400));
}

#[test]
fn settings_out_of_range_are_refused() {
    let server = server("well");
    let sound = load(&server);
    let wrong = [
        Load {
            connections: 0,
            ..sound.clone()
        },
        Load {
            threads: 5,
            ..sound.clone()
        },
        Load {
            duration: Duration::ZERO,
            ..sound.clone()
        },
        Load {
            schedule: Schedule::Open {
                per_second: f64::NAN,
            },
            ..sound.clone()
        },
        Load {
            requests_max: 0,
            ..sound.clone()
        },
        Load {
            time_limit: Duration::from_micros(999),
            ..sound.clone()
        },
        Load {
            threads: 2,
            busy_poll: true,
            processor: Some(0),
            ..sound.clone()
        },
        Load {
            processor: Some(1023),
            ..sound.clone()
        },
        Load {
            processor: Some(1 << 20),
            ..sound.clone()
        },
    ];
    for load in wrong {
        assert!(matches!(run(&load), Err(Error::Setting { .. })), "{load:?}");
        assert!(
            matches!(load.check(), Err(Error::Setting { .. })),
            "{load:?}"
        );
    }
    assert!(sound.check().is_ok());
    assert!(matches!(
        first_exchange(&server.target, Duration::ZERO),
        Err(Error::Setting { .. })
    ));
}

/// Tests a server that stands still for a known time: an open schedule shows the users' wait, and
/// the closed loop hides it.
#[test]
fn a_server_that_stands_still_is_seen() {
    const STANDS: Duration = Duration::from_millis(300);
    const PER_SECOND: f64 = 1000.0;
    let server = server("stand-still-once");
    let load = Load {
        schedule: Schedule::Open {
            per_second: PER_SECOND,
        },
        requests_max: 10_000,
        duration: Duration::from_millis(800),
        time_limit: LONG,
        drain: LONG,
        ..load(&server)
    };
    let measured = run(&load).unwrap();
    assert_eq!(measured.failed(), 0, "{:?}", measured.first_failure);
    assert_eq!(measured.latency.count(), 800);
    let stands_ns = STANDS.as_nanos() as u64;
    assert!(
        measured.latency.longest() > stands_ns - 10_000_000,
        "{}",
        measured.latency.longest()
    );
    // Of the requests that were due while it stood, those of the first half waited for more than
    // half of the time.
    let owed = (PER_SECOND * STANDS.as_secs_f64() / 2.0) as u64;
    assert!(
        measured.latency.above(stands_ns / 2) >= owed - 5,
        "{}",
        measured.latency.above(stands_ns / 2)
    );
}
