//! The rivals of the layer: each listed test runs in each variant, moves its messages, and leaves
//! nothing behind.

use crate::processes::processes_with;
use crate::waiting::wait_until;
use antiphon_lab::build::{Built, Cache};
use antiphon_lab::protocol::{TestInfo, TestKind};
use antiphon_lab::subject::{Remedy, Subject};
use antiphon_lab::{Launch, Session};
use antiphon_measure::{BatchRequest, Purpose, Role};
use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::atomic::AtomicBool;
use std::time::Duration;

const LIMIT: Duration = Duration::from_secs(60);
const ITERATIONS: u64 = 10;
/// 0 + 1 + … + 9, and so the sum of the numbers that ten messages carry.
const SUM: u64 = 45;

/// Makes the builds of a subject's variants; none, with the reason printed, if the system is not
/// installed.
fn builds(name: &str) -> Vec<Built> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../subjects");
    let subject = Subject::load(&folder.join(name)).unwrap();
    let missing = subject.missing();
    if !missing.is_empty() {
        let missing: Vec<_> = missing.into_iter().cloned().collect();
        let packages = Remedy::of(&missing).packages.join(" ");
        eprintln!("skipped: {name} needs `apt-get install {packages}`");
        return Vec::new();
    }
    let cache = Cache::at(Path::new(env!("CARGO_TARGET_TMPDIR")).join("rivals"));
    let stop = AtomicBool::new(false);
    let variants = subject.variants.iter();
    let built = variants.map(|variant| cache.build(&subject, variant, "other", &stop));
    let built: Result<Vec<_>, _> = built.collect();
    built.unwrap_or_else(|error| {
        let why = format!("{error:?}");
        // Maven Central may be out of reach.
        assert!(why.contains("did not come from Maven Central"), "{error}");
        eprintln!("skipped: {error}");
        Vec::new()
    })
}

/// Returns the sum that the members of a slice have received, each message counted with its place
/// in the row.
///
/// If messages carry numbers of their own, the sum covers two iterations.
fn received(test: &str) -> u64 {
    let (operation, members) = test.rsplit_once('.').unwrap_or((test, "2"));
    let members: u64 = members.parse().unwrap();
    match operation {
        "roundtrip" | "rpc" | "stream" => 2 * SUM,
        "alltoall" => members * members * 2 * SUM,
        "allreduce" => members * members * SUM,
        "broadcast" | "gather" | "scatter" => members * 2 * SUM,
        "barrier" | "reduce" => members * SUM,
        "group.own" => ITERATIONS,
        // Each message counts with one more than its number, at each member.
        "group.all" => members * (SUM + ITERATIONS),
        other => panic!("nobody has told this test of `{other}`"),
    }
}

fn every_test_moves_its_messages(built: &Built) {
    let ran = tests_move_their_messages(built, 64, |_| true);
    assert!(ran >= 20, "{}: {ran} tests ran", built.record.id);
}

/// Runs the wanted tests with messages of `bytes`; returns their number.
fn tests_move_their_messages(built: &Built, bytes: u64, is_wanted: impl Fn(&str) -> bool) -> usize {
    let mut launch = Launch::new(&built.record.id, &built.run, &built.folder);
    launch.env = built.environment.clone();
    let mut session = Session::start(&launch).unwrap();
    let tests = session.list().unwrap().tests;
    // A test of single operations, such as the start of tasks, sends no rows of messages.
    let is_of_messages =
        |test: &&TestInfo| test.kind == TestKind::Frame && !test.name.starts_with("self.");
    let tests = tests.iter().filter(is_of_messages);
    let mut ran = 0;
    for test in tests.filter(|test| test.absent.is_none() && is_wanted(&test.name)) {
        let wanted = BatchRequest {
            iterations: ITERATIONS,
            blocks: 1,
            reference_iterations: 0,
            warmup: 1,
            purpose: Purpose::Sample,
        };
        let arg = test.arg.as_ref().map(|_| bytes);
        let batch = session.batch(&test.name, arg, &wanted, LIMIT);
        let batch = batch.unwrap_or_else(|error| panic!("{}: {error}", test.name));
        for slice in batch.slices.iter().filter(|slice| slice.role == Role::Test) {
            assert_eq!(
                slice.checksum,
                received(&test.name),
                "{}: {}",
                built.record.id,
                test.name
            );
        }
        let partners = batch.threads.iter().filter(|thread| thread.role != "main");
        let reports: u64 = partners.map(|thread| thread.count).sum();
        let least = 2 * u64::from(test.threads - 1);
        assert!(
            reports >= least,
            "{}: {}: {reports} reports of partners",
            built.record.id,
            test.name
        );
        ran += 1;
    }
    session.quit().unwrap();
    ran
}

#[test]
fn open_mpi_moves_its_messages() {
    builds("layer-mpi")
        .iter()
        .for_each(every_test_moves_its_messages);
}

#[test]
fn zeromq_moves_its_messages() {
    builds("layer-zeromq")
        .iter()
        .for_each(every_test_moves_its_messages);
}

#[test]
fn pvm_moves_its_messages() {
    builds("layer-pvm")
        .iter()
        .for_each(every_test_moves_its_messages);
}

/// Tests long arrays: PVM refuses to send numbers that do not fit into 32 bits.
#[test]
fn pvm_reduces_long_arrays() {
    let is_reduction = |test: &str| test.starts_with("reduce.");
    for built in builds("layer-pvm") {
        assert_eq!(tests_move_their_messages(&built, 64 << 10, is_reduction), 7);
    }
}

/// Tests small groups. Each member is a virtual machine that first warms up, so groups of two and
/// three stand for all. The variant is that of the first compiler alone.
#[test]
fn jgroups_moves_its_messages() {
    let is_small = |test: &str| test.ends_with(".2") || test.ends_with(".3");
    for built in builds("layer-jgroups").iter().take(1) {
        assert_eq!(tests_move_their_messages(built, 64, is_small), 4);
    }
}

/// Starts a leader without the laboratory's keeper, kills it in the middle of a slice, and checks
/// that everything is gone.
fn leaves_nothing_when_killed(built: &Built) {
    let temporary = tempfile::tempdir().unwrap();
    let variable = format!("TMPDIR={}", temporary.path().display());
    let mut leader = Command::new(&built.run[0])
        .args(&built.run[1..])
        .envs(built.environment.iter().cloned())
        .env("TMPDIR", temporary.path())
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let requests = "hello 1\nbatch roundtrip iterations=10 blocks=1 reference=0 warmup=0 arg=1\n\
                    batch roundtrip iterations=1000000000 blocks=1 reference=0 warmup=0 arg=1\n";
    let mut input = leader.stdin.take().unwrap();
    input.write_all(requests.as_bytes()).unwrap();
    let all_started = || processes_with(&variable).len() > 8;
    wait_until(&format!("{} starts", built.record.id), all_started);
    leader.kill().unwrap();
    leader.wait().unwrap();
    let gone = || {
        let files = std::fs::read_dir(temporary.path()).unwrap().count();
        processes_with(&variable).is_empty() && files == 0
    };
    wait_until(&format!("nothing is left of {}", built.record.id), gone);
}

#[test]
fn a_virtual_machine_ends_with_its_leader() {
    let built = builds("layer-pvm");
    built.iter().take(1).for_each(leaves_nothing_when_killed);
}
