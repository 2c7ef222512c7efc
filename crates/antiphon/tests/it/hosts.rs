//! `antiphon sr` and `antiphon orca` over several hosts, behind a real ssh.

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

#[path = "../../../launch/tests/hosts/networks.rs"]
mod networks;
#[path = "../../../launch/tests/hosts/servers.rs"]
mod servers;

use crate::common::{Place, Ran, has_cc, is_alive, signal, takes_interrupts};
use servers::Servers;

/// Bounds waits that end far sooner.
const LIMIT: Duration = Duration::from_secs(60);

/// Creates a machine on each host that its arguments name, and one beside the first. Each says
/// where it is, and takes a line of the input.
const THREE: &str = "\
resource worker
  op line() returns s: string[80]
  op number() returns n: int
  op hang()
  external getpid() returns n: int
body worker(name: string[*])
  write(name, mymachine())
  proc line() returns s
    read(s)
  end
  proc number() returns n
    n := getpid()
  end
  proc hang()
    write(\"hanging\")
    flush(stdout)
    do true -> nap(10) od
  end
end

resource main()
  import worker
  var first, second, how: string[80]
  getarg(1, first); getarg(2, second); getarg(3, how)
  locate(7, second)
  var w[1:3]: cap worker
  w[1] := create worker(\"named\") on create vm() on first
  w[2] := create worker(\"located\") on create vm() on 7
  w[3] := create worker(\"here\") on create vm()
  if how = \"read\" -> fa i := 1 to 3 -> write(i, w[i].line()) af; stop(5)
  [] how = \"hang\" ->
    write(w[1].number(), w[2].number(), w[3].number())
    co (i := 1 to 3) w[i].hang() oc
  fi
end
";

/// Creates a machine where another program is.
const ELSEWHERE: &str = "\
resource main()
  var host, path: string[80]
  getarg(1, host); getarg(2, path)
  locate(1, host, path)
  var v := create vm() on 1
end
";

/// Forks a process on each machine.
const ORCA: &str = "\
MODULE IMPLEMENTATION where;
IMPORT IntObject;
PROCESS one(sum, ready: SHARED IntObject);
BEGIN
  sum$add(MYCPU() + 1);
  ready$inc();
END;
PROCESS OrcaMain();
  sum, ready: IntObject;
BEGIN
  FOR i IN 0..NCPUS() - 1 DO FORK one(sum, ready) ON i; OD;
  ready$AwaitValue(NCPUS());
  WriteLine(sum$value());
END;
END;
";

/// Two hosts, and programs.
struct Field {
    servers: Servers,
    place: Place,
}

impl Field {
    fn try_new() -> Option<Field> {
        let servers = has_cc().then(Servers::try_new).flatten()?;
        let place = Place::new();
        place.write("three.sr", THREE);
        place.write("elsewhere.sr", ELSEWHERE);
        place.write_orca("where", ORCA);
        Some(Field { servers, place })
    }

    /// Returns a command over a platform and the hosts of a file.
    fn command(&self, words: &[&str], over: &str, hosts: &str, arguments: &[&str]) -> Command {
        let hosts = self.servers.at(hosts);
        let mut command = self.place.command(words);
        command.args(["--over", over, "--hosts"]).arg(hosts);
        command
            .args(arguments)
            .env("ANTIPHON_SSH", self.servers.ssh());
        command
    }

    /// Returns the command that runs an SR program with the two hosts' names as arguments.
    fn sr(&self, over: &str, hosts: &str, how: &str) -> Command {
        let [first, second] = [0, 1].map(|at| self.servers.hosts[at].as_str());
        let words = ["sr", "run", "three.sr"];
        self.command(&words, over, hosts, &["--", first, second, how])
    }

    /// Runs it until its machines hang. Returns it with the process numbers of its machines.
    fn hanging(&self, over: &str) -> (Child, Vec<u32>) {
        let mut command = self.sr(over, "all", "hang");
        takes_interrupts(&mut command);
        let command = command.stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().expect("started");
        let output = BufReader::new(child.stdout.as_mut().expect("a pipe"));
        let lines: Vec<String> = output.lines().map_while(Result::ok).take(7).collect();
        assert_eq!(lines.get(4..), Some(&["hanging"; 3].map(String::from)[..]));
        let numbers = lines[3].split(' ').map(|n| n.parse().expect("a number"));
        (child, numbers.collect())
    }
}

fn assert_all_end(processes: &[u32]) {
    let until = Instant::now() + LIMIT;
    while let Some(left) = processes.iter().find(|process| is_alive(**process)) {
        assert!(Instant::now() < until, "{left} lives on");
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// The file may name this host or not. The first machine is here, where the input is.
#[test]
fn virtual_machines_are_on_the_hosts_that_the_program_names() {
    let Some(field) = Field::try_new() else {
        return;
    };
    for (over, hosts) in [("tcp", "hosts"), ("udp", "all")] {
        let mut command = field.sr(over, hosts, "read");
        let command = command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.stderr(Stdio::piped()).spawn().expect("started");
        let mut input = child.stdin.take().expect("a pipe");
        input.write_all(b"a b\nc\nd\n").expect("written");
        drop(input);
        let ran = Ran::of(child.wait_with_output().expect("waited for"));
        assert_eq!(ran.code, Some(5), "{over}: {}{}", ran.out, ran.err);
        let said = "named -1\nlocated 7\nhere 0\n1 a b\n2 c\n3 d\n";
        assert_eq!(ran.out, said, "{over}");
    }
    a_host_without_the_program_is_an_error(&field);
    a_killed_machine_is_lost(&field);
    an_interrupt_ends_all(&field);
}

fn a_host_without_the_program_is_an_error(field: &Field) {
    let host = field.servers.hosts[1].as_str();
    for (path, why) in [
        ("/no/such/program", "has no program /no/such/program"),
        ("/bin/true", "did not join"),
    ] {
        let words = ["sr", "run", "elsewhere.sr"];
        let mut command = field.command(&words, "tcp", "hosts", &["--", host, path]);
        let ran = Ran::of(command.output().expect("run"));
        ran.fails(1, &["elsewhere.sr, line 5", host, why]);
    }
}

fn a_killed_machine_is_lost(field: &Field) {
    let (child, machines) = field.hanging("tcp");
    signal(machines[0], libc::SIGKILL);
    let ran = Ran::of(child.wait_with_output().expect("waited for"));
    ran.fails(1, &["three.sr, line 33", "virtual machine 2 has died"]);
    assert_all_end(&machines);
}

fn an_interrupt_ends_all(field: &Field) {
    let (child, machines) = field.hanging("tcp");
    signal(child.id(), libc::SIGINT);
    let ran = Ran::of(child.wait_with_output().expect("waited for"));
    ran.fails(
        130,
        &[
            "[vm 1] main.body",
            "[vm 2] worker.hang",
            "[vm 4] worker.hang",
        ],
    );
    assert_eq!(ran.err.matches("RTS interrupt").count(), 1, "{}", ran.err);
    assert_all_end(&machines);
}

/// Settings reach the processes, all of which are on other hosts.
#[test]
fn orcas_machines_are_on_the_hosts_of_the_file() {
    let Some(field) = Field::try_new() else {
        return;
    };
    for over in ["tcp", "udp"] {
        let words = ["orca", "run", "where.imp", "-n", "3", "--stats"];
        let ran = Ran::of(
            field
                .command(&words, over, "hosts", &[])
                .output()
                .expect("run"),
        );
        assert_eq!(ran.done(), "6\n", "{over}");
        assert!(ran.err.contains("remote calls"), "{over}: {}", ran.err);
    }
}
