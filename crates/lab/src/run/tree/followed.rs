//! A process tree that is read repeatedly. Of processes that did not run since the last reading,
//! only the clocks are read.
//!
//! A database server with a process for each connection has hundreds, of which one or two work. A
//! process whose clock stands still has started nothing and has seen no child's end, because both
//! need the processor. It may have inherited children of an ended descendant. Therefore the
//! children of all ancestors of a process that ran are read anew.

use super::proc::{children, names_children};
use super::{Tree, Used, clock_ns};
use std::collections::HashMap;

/// A process and all below it, with their last readings.
pub(in crate::run) struct Followed {
    root: i32,
    known: HashMap<i32, Known>,
}

/// Last reading of a process.
struct Known {
    used: Used,
    children: Vec<i32>,
}

/// A reading on its way from the root down.
#[derive(Default)]
struct Reading {
    sum: Used,
    known: HashMap<i32, Known>,
}

impl Followed {
    pub(in crate::run) fn of(root: u32) -> Followed {
        Followed {
            root: root as i32,
            known: HashMap::new(),
        }
    }

    /// Returns their resource use so far.
    pub(in crate::run) fn read(&mut self) -> Used {
        if !names_children() {
            return Tree::of(self.root as u32).used();
        }
        let mut reading = Reading::default();
        self.visit(self.root, &mut reading);
        self.known = reading.known;
        reading.sum
    }

    /// Reads a process and all below it. Returns whether one of them ran since the last reading.
    fn visit(&mut self, process: i32, reading: &mut Reading) -> bool {
        if reading.known.contains_key(&process) {
            return false; // It was given to another parent meanwhile, and is found there, too.
        }
        let Some(own_ns) = clock_ns(process) else {
            return true; // It ended.
        };
        let before = self.known.remove(&process);
        let (mut now, ran) = match before.filter(|before| before.used.live_ns == own_ns) {
            Some(before) => (before, false),
            None => (Known::of(process, own_ns), true),
        };
        let below_ran = self.visit_all(&now.children, reading);
        if below_ran && !ran {
            now.children = children(process);
            self.visit_all(&now.children, reading);
        }
        reading.sum = reading.sum.and(now.used);
        reading.known.insert(process, now);
        ran || below_ran
    }

    fn visit_all(&mut self, children: &[i32], reading: &mut Reading) -> bool {
        let ran = children.iter().map(|child| self.visit(*child, reading));
        ran.fold(false, |before, ran| before | ran)
    }
}

impl Known {
    /// Reads the children after the use of ended ones. A child that ends in between then counts in
    /// the next reading, not twice in this one.
    fn of(process: i32, own_ns: u64) -> Known {
        Known {
            used: Used::of(process, own_ns),
            children: children(process),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::Parents;
    use super::*;
    use crate::run::waiting::wait_until;
    use antiphon_runner::{Process, Program};

    /// Starts a shell that runs given commands; its children end with it. `None` if processes
    /// cannot be followed.
    fn shell() -> Option<Process> {
        if !names_children() {
            println!("skipped: the kernel names no children");
            return None;
        }
        Some(Program::new("sh").spawn().unwrap())
    }

    #[test]
    fn what_is_read_again_is_what_a_look_at_all_of_them_finds() {
        let Some(mut shell) = shell() else { return };
        let mut followed = Followed::of(shell.id());
        followed.read();
        let children = "sh -c 'sleep 600; true' & sleep 600 &";
        shell.write_line(children).unwrap();
        wait_until("children and their child are found", || {
            followed.read();
            followed.known.len() == 4
        });
        // One that was just started may go on for a moment.
        wait_until("both tell the same", || {
            followed.read() == Tree::of(shell.id()).used()
        });
        let before = followed.read();
        let ends = "kill $!; wait $!; sh -c 'i=0; while [ $i -lt 60000 ]; do i=$((i+1)); done'";
        shell.write_line(ends).unwrap();
        wait_until("what ended is not lost, nor followed any more", || {
            let now = followed.read();
            let has_ended = now.ended_ns > before.ended_ns;
            has_ended && now.ended_faults > before.ended_faults && followed.known.len() == 3
        });
        let process = shell.id();
        drop(shell);
        wait_until("of what is gone nothing is told", || {
            followed.read() == Used::default()
        });
        assert!(followed.known.is_empty() && Tree::of(process).used() == Used::default());
    }

    #[test]
    fn who_lives_on_belongs_to_whoever_stands_above_its_parent() {
        let Some(mut subject) = shell() else { return };
        // The keeper inherits its program's remains without having run.
        let keeper = Parents::now().keeper(subject.id()).unwrap();
        let mut followed = Followed::of(keeper);
        followed.read();
        assert!(followed.known.contains_key(&(subject.id() as i32)));
        let leaves_behind = "(sleep 600 & echo $!)";
        subject.write_line(leaves_behind).unwrap();
        let left: i32 = subject.read_line().unwrap().trim().parse().unwrap();
        wait_until("it is found below the keeper", || {
            followed.read();
            followed.known[&(keeper as i32)].children.contains(&left)
        });
        assert!(followed.known.contains_key(&left));
    }

    #[test]
    fn of_one_that_did_not_run_only_the_clock_is_read() {
        let Some(mut shell) = shell() else { return };
        let mut followed = Followed::of(shell.id());
        wait_until("the shell waits", || followed.read() == followed.read());
        // The known value is changed, to show whether a reading uses it.
        let known = followed.known.get_mut(&(shell.id() as i32)).unwrap();
        known.used.ended_faults += 1_000_000;
        assert!(followed.read().ended_faults >= 1_000_000);
        shell.write_line("true").unwrap();
        wait_until("it ran and is read again", || {
            followed.read().ended_faults < 1_000_000
        });
    }
}
