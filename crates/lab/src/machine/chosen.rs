//! Choice of the processors that subjects run on.

use super::{System, allowed_processors};
use std::path::Path;

/// Returns the processor of a subject's main thread and that of its partners under `across`.
///
/// The first processors serve most interrupts, so the main thread gets the last permitted one. The
/// partners get the last one of another core, because two threads of one core share its units. Both
/// are equal if there is no other core.
pub fn chosen_processors() -> (usize, usize) {
    let system = System::at(Path::new("/"));
    choose(&allowed_processors(), |cpu| system.threads_of_core(cpu))
}

fn choose(allowed: &[usize], threads_of_core: impl Fn(usize) -> Vec<usize>) -> (usize, usize) {
    let Some((main, others)) = allowed.split_last() else {
        return (0, 0);
    };
    let own_core = threads_of_core(*main);
    let in_another = others.iter().rev().find(|cpu| !own_core.contains(cpu));
    let partner = in_another.or(others.last()).unwrap_or(main);
    (*main, *partner)
}

impl System {
    /// Returns the hardware threads of this processor's core, itself included, as far as the system
    /// tells.
    fn threads_of_core(&self, cpu: usize) -> Vec<usize> {
        let path = format!("sys/devices/system/cpu/cpu{cpu}/topology/thread_siblings_list");
        self.text(&path)
            .and_then(|list| numbers(&list))
            .unwrap_or_else(|| vec![cpu])
    }
}

/// Numbers in a list such as `0-3,8`; `None` of anything else.
fn numbers(list: &str) -> Option<Vec<usize>> {
    let mut all = Vec::new();
    for part in list.split(',') {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        let number = |text: &str| text.trim().parse::<usize>().ok();
        all.extend(number(first)?..=number(last)?);
    }
    Some(all)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_partner_is_of_another_core_where_there_is_one() {
        let pairs = |cpu: usize| vec![cpu & !1, cpu | 1];
        assert_eq!(choose(&[0, 1, 2, 3], pairs), (3, 1));
        assert_eq!(choose(&[2, 3], pairs), (3, 2));
        let halves = |cpu: usize| vec![cpu % 4, cpu % 4 + 4];
        assert_eq!(choose(&[0, 1, 2, 3, 4, 5, 6, 7], halves), (7, 6));
        assert_eq!(choose(&[3, 6, 7], halves), (7, 6));
        assert_eq!(choose(&[2, 3, 7], halves), (7, 2));
    }

    #[test]
    fn one_processor_is_its_own_partner() {
        assert_eq!(choose(&[5], |cpu| vec![cpu]), (5, 5));
    }

    #[test]
    fn the_system_tells_which_processors_are_of_one_core() {
        let folder = tempfile::tempdir().unwrap();
        let of_core = folder.path().join("sys/devices/system/cpu/cpu2/topology");
        std::fs::create_dir_all(&of_core).unwrap();
        let system = System::at(folder.path());
        let reported = |list: &str| {
            std::fs::write(of_core.join("thread_siblings_list"), list).unwrap();
            system.threads_of_core(2)
        };
        assert_eq!(reported("2,6\n"), [2, 6]);
        assert_eq!(reported("0-3,8"), [0, 1, 2, 3, 8]);
        assert_eq!(
            reported("none"),
            [2],
            "what cannot be read tells of no other"
        );
        assert_eq!(system.threads_of_core(3), [3]);
    }
}
