//! The command is killed at several moments of its work. Each time no process of it is left, and
//! the next run removes its folders.

use crate::common::{Place, has, has_cc};
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// Longer than anything takes. Only a failing test waits so long.
const PATIENCE: Duration = Duration::from_secs(120);

/// A server that adds a byte to a file for each request.
const SERVER: &str = r#"
import http.server, os, socketserver, sys
notes = os.open(os.path.join(os.path.dirname(__file__), "requests"), os.O_WRONLY | os.O_CREAT | os.O_APPEND)
class Answers(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    wbufsize = -1
    def do_GET(self):
        os.write(notes, b".")
        self.send_response(200)
        self.send_header("Content-Length", "5")
        self.end_headers()
        self.wfile.write(b"hello")
    def log_message(self, *_):
        pass
class Server(http.server.ThreadingHTTPServer):
    daemon_threads = True
Server(("127.0.0.1", int(sys.argv[1])), Answers).serve_forever()
"#;

const LOADS: &str = r#"
name = "loads"
title = "Loads"
subjects = ["web/v"]
[quick]
seconds_per_row = 0.01
relative_half_width = 0.5
[full]
seconds_per_row = 30.0
relative_half_width = 0.0001
[[group]]
id = "one"
title = "One"
runs = ["other.free"]
[[group.row]]
kind = "load"
test = "keep"
label = "2 connections"
connections = "2"
path = "/"
body = "hello"
seconds = 0.5
quick_seconds = 0.05
"#;

const QUERIES: &str = r#"
name = "queries"
title = "Queries"
subjects = ["sql-c/postgresql"]
[quick]
seconds_per_row = 0.05
relative_half_width = 0.5
[full]
seconds_per_row = 60.0
relative_half_width = 0.0001
[[group]]
id = "one"
title = "One"
runs = ["other.free"]
[[group.row]]
test = "select.1"
label = "SELECT 1"
"#;

/// Returns the command with a cache and temporary folders of the place's own.
fn command(place: &Place, arguments: &[&str]) -> Command {
    let mut command = place.command(arguments);
    command
        .env("ANTIPHON_CACHE", place.path("cache"))
        .env("TMPDIR", place.path("temporary"));
    command
}

fn start(place: &Place, arguments: &[&str]) -> Child {
    command(place, arguments)
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap()
}

/// Waits for a condition, and names it if it does not come.
#[track_caller]
fn wait_for(what: &str, is_there: impl Fn() -> bool) {
    let until = Instant::now() + PATIENCE;
    while !is_there() {
        assert!(Instant::now() < until, "{what} did not come");
        std::thread::sleep(Duration::from_millis(2));
    }
}

/// Returns the processes that have this place in their arguments or environment.
fn processes(place: &Place) -> Vec<PathBuf> {
    let wanted = place
        .path("")
        .to_string_lossy()
        .trim_end_matches('/')
        .to_owned();
    let speaks = |process: &Path, file: &str| {
        let bytes = fs::read(process.join(file)).unwrap_or_default();
        String::from_utf8_lossy(&bytes).contains(&wanted)
    };
    let all = fs::read_dir("/proc").unwrap().flatten();
    let all = all.map(|entry| entry.path()).filter(|process| {
        let name = process.file_name().unwrap_or_default().to_string_lossy();
        name.bytes().all(|byte| byte.is_ascii_digit())
    });
    all.filter(|process| speaks(process, "cmdline") || speaks(process, "environ"))
        .collect()
}

/// Counts the servers that are noted in a folder. A note that a killed run left unfinished has
/// another name, and stays for a minute.
fn noted(folder: &Path) -> usize {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let is_note = |entry: &fs::DirEntry| entry.path().extension().is_none();
    entries.filter(is_note).count()
}

/// Kills the command when the condition holds, and waits until none of its processes runs.
fn kill_when(place: &Place, arguments: &[&str], what: &str, is_there: impl Fn() -> bool) {
    let mut running = start_until(place, arguments, what, is_there);
    let started = processes(place);
    running.kill().unwrap();
    running.wait().unwrap();
    wait_for("the end of every process", || {
        processes(place).is_empty() && started.iter().all(|process| has_ended(process))
    });
}

/// Returns whether a process has released its files, too. An ending process has no arguments and no
/// environment, but may still use a folder.
fn has_ended(process: &Path) -> bool {
    matches!(state(process), None | Some('Z' | 'X'))
}

/// Starts the command and waits until the condition holds.
fn start_until(
    place: &Place,
    arguments: &[&str],
    what: &str,
    is_there: impl Fn() -> bool,
) -> Child {
    let running = start(place, arguments);
    wait_for(what, || {
        let code = running_code(&running);
        assert_eq!(code, None, "{arguments:?} ended before {what}");
        is_there()
    });
    running
}

/// Measures a test that needs neither a database nor a tool.
fn measure_other(place: &Place) {
    let ended = command(
        place,
        &["measure", "small", "--quick", "--only", "self.same"],
    )
    .output()
    .unwrap();
    assert!(ended.status.success(), "{ended:?}");
}

/// Returns the state of a child that has ended and was not waited for, or `None` while it runs.
fn running_code(child: &Child) -> Option<char> {
    let process = PathBuf::from(format!("/proc/{}", child.id()));
    state(&process).filter(|state| *state == 'Z')
}

/// Returns a process's state in the kernel, or `None` if it is gone.
fn state(process: &Path) -> Option<char> {
    let stat = fs::read_to_string(process.join("stat")).ok()?;
    stat.rsplit(") ").next()?.chars().next()
}

#[test]
fn servers_end_with_a_killed_run() {
    if !has("python3", "python3") {
        return;
    }
    let place = Place::new();
    fs::create_dir(place.path("temporary")).unwrap();
    place.write("suites/loads.toml", LOADS);
    place.write("subjects/web/server.py", SERVER);
    place.write(
        "subjects/web/subject.toml",
        "name = 'web'\nlanguage = 'Python'\nversion = ['python3', '--version']\nsources = ['server.py']\nbuild = []\n\
         run = ['python3', '{source}/server.py', '{port}']\nserves = 'http'\n[[variant]]\nname = 'v'\n",
    );
    let serving = place.path("cache/serving");
    let requests = place.path("subjects/web/requests");
    let asked = |least: u64| fs::metadata(&requests).is_ok_and(|file| file.len() >= least);
    kill_when(&place, &["measure", "loads"], "a server", || {
        noted(&serving) > 0
    });
    // At the first answer, in the middle of warming, and under load.
    for least in [1, 300, 3000] {
        let _ = fs::remove_file(&requests);
        kill_when(&place, &["measure", "loads"], "requests", || asked(least));
    }
    let ended = command(&place, &["measure", "loads", "--quick"])
        .output()
        .unwrap();
    assert!(ended.status.success(), "{ended:?}");
    assert_eq!(noted(&serving), 0, "servers are still noted");
    assert_eq!(processes(&place), Vec::<PathBuf>::new());
}

/// Returns the entries of the folder of services and tools, or `None` if there is none.
fn folders(place: &Place) -> Option<Vec<PathBuf>> {
    let mut within = fs::read_dir(place.path("temporary")).ok()?.flatten();
    let is_it = |of: &fs::DirEntry| of.file_name().as_encoded_bytes().starts_with(b"antiphon-");
    let entries = fs::read_dir(within.find(is_it)?.path()).ok()?.flatten();
    Some(entries.map(|entry| entry.path()).collect())
}

#[test]
fn folders_of_tools_go_after_a_killed_profile() {
    if !has("valgrind", "valgrind") || !has_cc() {
        return;
    }
    let place = Place::new();
    fs::create_dir(place.path("temporary")).unwrap();
    place.link("c");
    let has_folder = || folders(&place).is_some_and(|all| all.iter().any(|of| of.is_dir()));
    let profile = ["profile", "c/O2", "self.same", "--iterations", "1000000000"];
    kill_when(&place, &profile, "a tool's folder", has_folder);
    assert!(has_folder(), "it was killed too late");
    measure_other(&place);
    assert_eq!(folders(&place), Some(Vec::new()));
    let elsewhere = fs::read_dir(place.path("temporary")).unwrap().flatten();
    let elsewhere: Vec<_> = elsewhere.map(|entry| entry.file_name()).collect();
    assert_eq!(elsewhere.len(), 1, "{elsewhere:?}");
}

/// Returns a place whose subjects have databases.
fn place_of_databases() -> Place {
    let place = Place::new();
    // The server runs under another account.
    for folder in ["", "temporary"] {
        let _ = fs::create_dir(place.path(folder));
        fs::set_permissions(place.path(folder), fs::Permissions::from_mode(0o711)).unwrap();
    }
    for subject in ["c", "sql-c"] {
        place.link(subject);
    }
    place
}

/// Returns whether a subject runs.
fn has_client(place: &Place) -> bool {
    processes(place).iter().any(|process| {
        fs::read_to_string(process.join("comm")).is_ok_and(|name| name.trim() == "measured")
    })
}

#[test]
fn databases_end_with_a_killed_run() {
    if !has("psql", "postgresql") || !has("pg_config", "libpq-dev") || !has_cc() {
        return;
    }
    let place = place_of_databases();
    place.write("suites/queries.toml", QUERIES);
    let queries = ["measure", "queries"];
    let folders = || folders(&place);
    let any = |name: &str| {
        let found = folders().unwrap_or_default();
        found
            .iter()
            .any(|folder| name.is_empty() || holds(folder, name))
    };
    kill_when(&place, &queries, "a data folder", || any(""));
    kill_when(&place, &queries, "a server", || any("postmaster.pid"));
    kill_when(&place, &queries, "a client", || has_client(&place));
    measure_other(&place);
    assert_eq!(folders().map(|all| all.len()), Some(0), "{:?}", folders());
    // Files of a living run are not removed as leftovers.
    let mut running = start_until(&place, &queries, "a server", || any("postmaster.pid"));
    measure_other(&place);
    assert!(any("postmaster.pid"), "{:?}", folders());
    assert_eq!(running_code(&running), None);
    running.kill().unwrap();
    running.wait().unwrap();
    wait_for("the end of every process", || processes(&place).is_empty());
    let ended = command(&place, &["measure", "queries", "--quick"])
        .output()
        .unwrap();
    assert!(ended.status.success(), "{ended:?}");
    assert_eq!(folders().map(|all| all.len()), Some(0), "{:?}", folders());
    assert_eq!(processes(&place), Vec::<PathBuf>::new());
}

/// The server's death is reported. It costs the current row its figure, and no other row.
#[test]
fn a_run_goes_on_with_another_server_when_its_own_is_killed() {
    if !has("psql", "postgresql") || !has("pg_config", "libpq-dev") || !has_cc() {
        return;
    }
    let place = place_of_databases();
    let others = ["do.1", "rows.10"];
    let row = |test| format!("[[group.row]]\ntest = \"{test}\"\nlabel = \"{test}\"\n");
    let rows: String = others.map(row).concat();
    let long = QUERIES.replace("seconds_per_row = 0.05", "seconds_per_row = 3.0");
    place.write("suites/queries.toml", &(long + &rows));
    let running = command(&place, &["measure", "queries", "--quick"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let note = || {
        let folders = folders(&place).unwrap_or_default();
        let mut notes = folders
            .iter()
            .map(|folder| folder.join("data/postmaster.pid"));
        notes.find_map(|note| fs::read_to_string(note).ok())
    };
    wait_for("a server", || note().is_some());
    wait_for("a client", || has_client(&place));
    let server = note().unwrap().lines().next().unwrap().to_owned();
    let killed = Command::new("kill").args(["-KILL", &server]).status();
    assert!(killed.unwrap().success());
    let ended = running.wait_with_output().unwrap();
    assert!(ended.status.success(), "{ended:?}");
    let report = command(&place, &["report", "--csv", "-"]).output().unwrap();
    let report = String::from_utf8(report.stdout).unwrap();
    let lost = "PostgreSQL was ended by SIGKILL (9) while it was used";
    let row = |test: &str| {
        let mut rows = report.lines().filter(|row| row.contains(test));
        rows.next()
            .unwrap_or_else(|| panic!("{test}: {report}"))
            .to_owned()
    };
    assert!(row("select.1").contains(lost), "{report}");
    for other in others {
        assert!(!row(other).contains("PostgreSQL was"), "{report}");
    }
    assert_eq!(folders(&place).map(|all| all.len()), Some(0));
}

/// Returns whether a folder holds a file of this name, at most one folder below.
fn holds(folder: &Path, name: &str) -> bool {
    folder.join(name).exists()
        || fs::read_dir(folder)
            .into_iter()
            .flatten()
            .flatten()
            .any(|entry| entry.path().join(name).exists())
}
