//! End of processes that nothing later in a start needs. Their memory and database connections
//! would otherwise burden other measurements.

use super::Engine;
use crate::record::Identity;
use crate::run::Item;
use std::collections::HashMap;

impl Engine<'_, '_> {
    /// Ends the processes of a start whose last need was this item.
    pub(super) fn end_whom_nothing_needs(&mut self, position: usize, start: u32) {
        if let Some(over) = self.needed_last.get(&position) {
            self.processes.end_of(over, start);
        }
    }
}

/// Returns the processes by the position of the last item that needs them. An item needs its
/// process until all subjects of its test have taken turns.
pub(super) fn needed_last(items: &[Item]) -> HashMap<usize, Vec<Identity>> {
    let test = |identity: &Identity| Identity {
        subject: String::new(),
        ..identity.clone()
    };
    let process = |identity: &Identity| Identity {
        test: String::new(),
        arg: None,
        ..identity.clone()
    };
    let identities = || items.iter().map(|item| &item.identity).enumerate();
    let last_of_test: HashMap<Identity, usize> = identities()
        .map(|(position, identity)| (test(identity), position))
        .collect();
    let mut last: HashMap<Identity, usize> = HashMap::new();
    for (_, identity) in identities() {
        let until = last_of_test[&test(identity)];
        let last = last.entry(process(identity)).or_default();
        *last = until.max(*last);
    }
    let mut needed_last: HashMap<usize, Vec<Identity>> = HashMap::new();
    for (process, position) in last {
        needed_last.entry(position).or_default().push(process);
    }
    needed_last
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::run::Task;

    fn item(subject: &str, test: &str, placement: &str) -> Item {
        Item {
            identity: Identity {
                subject: subject.to_owned(),
                test: test.to_owned(),
                arg: None,
                policy: "other".to_owned(),
                placement: placement.to_owned(),
            },
            group: String::new(),
            label: String::new(),
            task: Task::Frame,
        }
    }

    #[test]
    fn a_process_is_needed_until_all_subjects_of_its_last_test_had_their_turns() {
        let items = [
            item("a", "first", "same"),
            item("b", "first", "same"),
            item("a", "first", "free"),
            item("b", "first", "free"),
            item("a", "second", "same"),
            item("c", "second", "same"),
        ];
        let needed_last = needed_last(&items);
        let at = |position: usize| {
            let over = needed_last.get(&position).into_iter().flatten();
            let mut over: Vec<String> = over
                .map(|of| format!("{} {}", of.subject, of.placement))
                .collect();
            over.sort();
            over
        };
        assert_eq!(at(1), ["b same"]);
        assert_eq!(at(3), ["a free", "b free"]);
        assert_eq!(at(5), ["a same", "c same"]);
        assert_eq!(needed_last.len(), 3);
    }
}
