//! Start of a server from its build: it is started, checked for its answer, and warmed.

use super::member::{Cell, Member};
use super::server::Server;
use super::{note, of_generator, warm};
use crate::record::Absence;
use crate::run::RunError;
use crate::run::engine::Engine;
use antiphon_load::{Reach, Target, first_exchange};
use std::time::{Duration, Instant};

/// Time of a listening server until its first right answer.
const FIRST_ANSWER: Duration = Duration::from_secs(5);

/// Starts and warms the servers that do not run and have a load to be measured under.
pub(super) fn start_all(
    engine: &mut Engine<'_, '_>,
    members: &mut [Member],
    round: u32,
) -> Result<(), RunError> {
    for member in members {
        let is_wanted = member.cells.iter().any(|cell| cell.absence.is_none());
        if engine.interrupted() || member.running.is_some() || !is_wanted {
            continue;
        }
        if !member.reported {
            member.reported = true;
            for cell in &member.cells {
                let item = engine.items[cell.position].clone();
                engine.tell_started(&item);
            }
        }
        let warmed = start(engine, member).and_then(|(server, target)| {
            let (first, stop) = (&member.cells[0], engine.lab.stop);
            match warm::up(&server, &target, first, engine.quick, round, stop) {
                Ok(warm_up) => Ok((server, target, warm_up)),
                Err(error) => Err(server.absence(&error)),
            }
        });
        match warmed {
            Err(absence) => member.fail_all(&absence),
            Ok((server, target, warm_up)) => {
                note(engine, member.cells[0].position, "warm-up", &warm_up)?;
                member.warm_ups.push(warm_up);
                member.running = Some((server, target));
            }
        }
    }
    Ok(())
}

/// Starts a server, and compares its first answer with the suite's.
fn start(engine: &Engine<'_, '_>, member: &Member) -> Result<(Server, Target), Absence> {
    let build = (member.subject.clone(), member.policy.clone());
    let Some(built) = engine.processes.builds.get(&build) else {
        let reason = format!("there is no build of {} for this policy", member.subject);
        return Err(Absence::new(reason, "see why its build failed"));
    };
    let Cell { task, places, .. } = &member.cells[0];
    let server = Server::start(built, &member.policy, places, engine.lab.cache.folder())?;
    let expected = member.cells[0].expected();
    let target = Target::parse(&server.url(&task.path), Reach::Loopback)
        .map_err(|error| of_generator(&error))?;
    let until = Instant::now() + FIRST_ANSWER;
    loop {
        let answer =
            first_exchange(&target, FIRST_ANSWER).map_err(|error| server.absence(&error))?;
        if answer == expected {
            return Ok((server, target));
        }
        if Instant::now() >= until {
            let body = String::from_utf8_lossy(&answer.body).into_owned();
            let reason = format!(
                "it answers {} with status {} and `{}`, and not with status 200 and `{}`",
                task.path,
                answer.status,
                short(&body),
                task.body
            );
            return Err(server.with_words(Absence::new(reason, "mend the server")));
        }
        // Some accept before they have all that they answer with.
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// Returns the beginning of an answer, on one line.
fn short(text: &str) -> String {
    const LETTERS: usize = 80;
    let line = text.escape_debug().to_string();
    match line.char_indices().nth(LETTERS) {
        Some((end, _)) => format!("{}…", &line[..end]),
        None => line,
    }
}
