//! Large numbers of everything: a little here, and more where `PVM_SOAK` is set.

use crate::support::Place;

/// Returns the output of a case, with a small number or a large one.
fn shown(over: &'static str, case: &str, number: u32) -> String {
    let output = Place::ours()
        .over(over)
        .run("soak", &[case, &number.to_string()]);
    String::from_utf8_lossy(&output.stdout).into_owned()
}

fn size(small: u32, large: u32) -> u32 {
    match std::env::var_os("PVM_SOAK") {
        Some(_) => large,
        None => small,
    }
}

#[test]
fn many_tasks_meet_at_a_barrier() {
    let count = size(12, 200);
    let wanted = format!("spawned {count}\nheard of {count}, barrier 0\n");
    for over in ["shm", "tcp", "udp"] {
        assert_eq!(shown(over, "meet", count), wanted, "{over}");
    }
}

#[test]
fn tasks_spawn_tasks() {
    let levels = size(2, 6);
    let tasks = (1 << (levels + 1)) - 1;
    assert_eq!(shown("shm", "tree", levels), format!("{tasks} tasks\n"));
}

#[test]
fn each_of_many_notices_comes() {
    let count = size(500, 10_000);
    let told = shown("shm", "notices", count);
    assert_eq!(told, format!("told {count} times\n"));
}

/// Eight messages, with lengths in KiB.
#[test]
fn many_bytes_come_whole() {
    let length = size(1 << 10, 256 << 10);
    for over in ["shm", "tcp"] {
        assert_eq!(shown(over, "bytes", length), "wrong 0\n", "{over}");
    }
}
