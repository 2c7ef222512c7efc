//! A process without a free descriptor. The state needs a separate process, so the file has one
//! test.

use antiphon_load::{Error, Reach, Target, first_exchange};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use std::fs::File;
use std::net::TcpListener;
use std::time::Duration;

#[test]
fn a_lack_at_the_first_exchange_is_not_told_as_a_missing_server() {
    let server = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/", server.local_addr().unwrap());
    let target = Target::parse(&url, Reach::Loopback).unwrap();
    let few = Rlimit {
        current: Some(64),
        ..getrlimit(Resource::Nofile)
    };
    setrlimit(Resource::Nofile, few).unwrap();
    let mut all = Vec::new();
    while let Ok(file) = File::open("/dev/null") {
        all.push(file);
    }
    let error = first_exchange(&target, Duration::from_secs(1)).unwrap_err();
    drop(all);
    assert!(matches!(error, Error::System { .. }), "{error:?}");
    let said = error.to_string();
    assert!(said.starts_with("opening the first connection: "), "{said}");
    assert!(
        said.ends_with("raise the limit of open files (ulimit -n)"),
        "{said}"
    );
}
