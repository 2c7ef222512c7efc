//! Applications of shared objects, each beside its sequential version. Both must have the same
//! result.
//!
//! ```text
//! cargo build --release -p antiphon-orca --examples
//! target/release/examples/applications                  # all, on threads of this process
//! target/release/examples/applications tsp 14           # one, of a size
//! target/release/examples/applications speed-up         # some, on one processor and on two
//! antiphon launch -n 4 --over tcp target/release/examples/applications tsp 14
//! ```
//!
//! Without a launcher each application runs on 1, 2 and 4 machines, which are threads of this
//! process, and a table shows the results. `speed-up` prints one table of those that compute for
//! long, at sizes that fit.

use std::process::ExitCode;
use std::thread;
use std::time::{Duration, Instant};

use antiphon_panda::platform::local::Local;
use antiphon_panda::{LaunchInfo, Session};
use orca::{Error, Orca};

mod arrays;
mod asp;
mod buffer;
mod configuration;
mod election;
mod game_tree;
mod jobs;
mod leases;
mod life;
mod philosophers;
mod sor;
mod tsp;

/// An application: its name, its results with one process and with many, and a default size.
struct Application {
    name: &'static str,
    sequential: fn(usize) -> u64,
    parallel: fn(&Orca, usize) -> Result<u64, Error>,
    size: usize,
}

/// The word for the table of speed-up.
const SPEED_UP: &str = "speed-up";

/// The applications in that table, with their sizes there.
const COMPUTING: [(&str, usize); 6] = [
    ("tsp", 13),
    ("asp", 1200),
    ("sor", 2000),
    ("sor-array", 2000),
    ("jacobi", 2000),
    ("jacobi-array", 2000),
];

const APPLICATIONS: [Application; 13] = [
    Application {
        name: "tsp",
        sequential: tsp::sequential,
        parallel: tsp::parallel,
        size: 11,
    },
    Application {
        name: "asp",
        sequential: asp::sequential,
        parallel: asp::parallel,
        size: 120,
    },
    Application {
        name: "sor",
        sequential: sor::sequential_sor,
        parallel: sor::parallel_sor,
        size: 64,
    },
    Application {
        name: "jacobi",
        sequential: sor::sequential_jacobi,
        parallel: sor::parallel_jacobi,
        size: 64,
    },
    Application {
        name: "sor-array",
        sequential: sor::sequential_sor,
        parallel: arrays::parallel_sor,
        size: 64,
    },
    Application {
        name: "jacobi-array",
        sequential: sor::sequential_jacobi,
        parallel: arrays::parallel_jacobi,
        size: 64,
    },
    Application {
        name: "life",
        sequential: life::sequential,
        parallel: life::parallel,
        size: 40,
    },
    Application {
        name: "game-tree",
        sequential: game_tree::sequential,
        parallel: game_tree::parallel,
        size: 9,
    },
    Application {
        name: "buffer",
        sequential: buffer::sequential,
        parallel: buffer::parallel,
        size: 200,
    },
    Application {
        name: "philosophers",
        sequential: philosophers::sequential,
        parallel: philosophers::parallel,
        size: 20,
    },
    Application {
        name: "configuration",
        sequential: configuration::sequential,
        parallel: configuration::parallel,
        size: 50,
    },
    Application {
        name: "leases",
        sequential: leases::sequential,
        parallel: leases::parallel,
        size: 40,
    },
    Application {
        name: "election",
        sequential: election::sequential,
        parallel: election::parallel,
        size: 10,
    },
];

fn main() -> ExitCode {
    let mut words = std::env::args().skip(1);
    let name = words.next();
    let size = words.next().and_then(|word| word.parse().ok());
    if name.as_deref() == Some(SPEED_UP) {
        return ended(speed_up(&COMPUTING));
    }
    let chosen = |it: &&Application| name.as_deref().is_none_or(|name| name == it.name);
    let chosen: Vec<_> = APPLICATIONS.iter().filter(chosen).collect();
    if chosen.is_empty() {
        let names: Vec<_> = APPLICATIONS.iter().map(|it| it.name).collect();
        eprintln!("there is {}", names.join(", "));
        return ExitCode::from(2);
    }
    ended(match LaunchInfo::from_environment() {
        Ok(_) => launched(chosen[0], size),
        Err(_) => chosen.into_iter().try_for_each(|it| on_threads(it, size)),
    })
}

fn ended(outcome: Result<(), Error>) -> ExitCode {
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

/// Runs an application as one of the processes of a session.
fn launched(application: &Application, size: Option<usize>) -> Result<(), Error> {
    let session = Session::join()?;
    let (size, parallel) = (size.unwrap_or(application.size), application.parallel);
    if let Some(result) = orca::run(&session, move |orca| timed(orca, size, parallel))? {
        let (result, time) = result?;
        let wanted = (application.sequential)(size);
        println!(
            "{}: {result} in {time:.2?}, {}",
            application.name,
            verdict(result == wanted)
        );
    }
    Ok(())
}

type Parallel = fn(&Orca, usize) -> Result<u64, Error>;

fn timed(orca: &Orca, size: usize, parallel: Parallel) -> Result<(u64, Duration), Error> {
    let began = Instant::now();
    Ok((parallel(orca, size)?, began.elapsed()))
}

/// Runs an application on 1, 2 and 4 machines, which are threads.
fn on_threads(application: &Application, size: Option<usize>) -> Result<(), Error> {
    let size = size.unwrap_or(application.size);
    let began = Instant::now();
    let wanted = (application.sequential)(size);
    let alone = began.elapsed();
    println!(
        "{} of size {size}: {wanted}, sequential in {alone:.2?}",
        application.name
    );
    println!("| machines | time | speed-up | result |\n|---|---|---|---|");
    for machines in [1, 2, 4] {
        let (result, time) = on(Local::sessions(machines)?, size, application.parallel)?;
        let speed_up = alone.as_secs_f64() / time.as_secs_f64();
        println!(
            "| {machines} | {time:.2?} | {speed_up:.2} | {} |",
            verdict(result == wanted)
        );
    }
    println!();
    Ok(())
}

/// Prints how much faster some applications are on one machine and on two than without shared
/// objects. A machine is a thread, which computes on one processor. Each time is the best of a few.
fn speed_up(applications: &[(&str, usize)]) -> Result<(), Error> {
    const TIMES: usize = 3;
    println!("| application | size | sequential | 1 processor | 2 processors | results |");
    println!("|---|---|---|---|---|---|");
    for (name, size) in applications {
        let Some(it) = APPLICATIONS.iter().find(|it| it.name == *name) else {
            continue;
        };
        let mut best = [Duration::MAX; 3];
        let mut are_right = true;
        for _ in 0..TIMES {
            let began = Instant::now();
            let wanted = (it.sequential)(*size);
            best[0] = best[0].min(began.elapsed());
            for machines in [1, 2] {
                let (result, time) = on(Local::sessions(machines)?, *size, it.parallel)?;
                let machines = machines as usize;
                best[machines] = best[machines].min(time);
                are_right &= result == wanted;
            }
        }
        let [alone, one, two] = best;
        let faster = |time: Duration| alone.as_secs_f64() / time.as_secs_f64();
        println!(
            "| {name} | {size} | {alone:.2?} | {one:.2?}, × {:.2} | {two:.2?}, × {:.2} | {} |",
            faster(one),
            faster(two),
            verdict(are_right)
        );
    }
    Ok(())
}

fn on(sessions: Vec<Session>, size: usize, parallel: Parallel) -> Result<(u64, Duration), Error> {
    let run = |session| {
        thread::spawn(move || orca::run(&session, move |orca| timed(orca, size, parallel)))
    };
    let threads: Vec<_> = sessions.into_iter().map(run).collect();
    let mut result = Err(Error::Over);
    for thread in threads {
        match thread.join() {
            Ok(Ok(Some(main))) => result = main,
            Ok(Ok(None)) => {}
            Ok(Err(error)) => return Err(error),
            Err(panic) => std::panic::resume_unwind(panic),
        }
    }
    result
}

fn verdict(is_right: bool) -> &'static str {
    if is_right { "right" } else { "WRONG" }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The sizes are smaller, so that all take a few seconds.
    #[test]
    fn every_application_has_the_result_of_its_sequential_version() {
        for it in &APPLICATIONS {
            let size = it.size * 2 / 3;
            let wanted = (it.sequential)(size);
            for machines in [1, 3] {
                let sessions = Local::sessions(machines).expect("a session");
                let (result, _) = on(sessions, size, it.parallel).expect(it.name);
                assert_eq!(result, wanted, "{} on {machines} machines", it.name);
            }
        }
    }

    #[test]
    fn the_table_of_speed_up_has_applications_that_exist() {
        for (name, _) in COMPUTING {
            assert!(APPLICATIONS.iter().any(|it| it.name == name), "{name}");
        }
        speed_up(&COMPUTING.map(|(name, _)| (name, 8))).expect("they run");
    }

    #[test]
    fn every_application_runs_over_open_mpi() {
        if std::env::var_os("OMPI_COMM_WORLD_RANK").is_some() {
            return;
        }
        let program = std::env::current_exe().expect("this test has a path");
        let mut mpirun = std::process::Command::new("mpirun");
        mpirun
            .args(["--allow-run-as-root", "--oversubscribe", "--timeout", "300"])
            .args(["-n", "3"])
            .arg(program)
            .args(["--exact", "tests::member", "--ignored", "--nocapture"]);
        let output = match mpirun.output() {
            Ok(output) => output,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
                eprintln!("skipped: there is no mpirun (apt-get install openmpi-bin)");
                return;
            }
            Err(error) => panic!("mpirun: {error}"),
        };
        let written = [output.stdout, output.stderr].concat();
        let written = String::from_utf8_lossy(&written);
        assert!(output.status.success(), "{written}");
        let right = written.matches(": right").count();
        assert_eq!(right, APPLICATIONS.len(), "{written}");
    }

    /// One program runs them all, because a session has one program.
    #[test]
    #[ignore = "one process of every_application_runs_over_open_mpi"]
    fn member() {
        let session = Session::join().expect("mpirun gives launch info");
        let main = |orca: &Orca| {
            APPLICATIONS.iter().try_for_each(|it| {
                let size = it.size / 3;
                let result = (it.parallel)(orca, size)?;
                let is_right = result == (it.sequential)(size);
                println!("{}: {}", it.name, verdict(is_right));
                Ok::<_, Error>(())
            })
        };
        let ended = orca::run(&session, main).expect("the program ends well");
        ended.transpose().expect("nothing fails");
    }
}
