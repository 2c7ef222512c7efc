//! The same through a real ssh and sshd.

use super::servers::Servers;
use super::{SSH, all_hear_all, nobody_outlives_a_killed_launch};
use super::{signals_come_through, spawned_are_followed, words_and_codes_come_through};
use antiphon_launch::Over;

#[test]
fn a_real_sshd_carries_what_a_session_needs() {
    let _turn = SSH.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
    let Some(servers) = Servers::try_new() else {
        return;
    };
    // SAFETY: tests of this file that read the environment hold the same lock.
    unsafe { std::env::set_var("ANTIPHON_SSH", servers.ssh()) };
    all_hear_all(&servers.at("all"), Over::Tcp);
    all_hear_all(&servers.at("all"), Over::Udp);
    words_and_codes_come_through(&servers.at("hosts"));
    signals_come_through(&servers.at("hosts"));
    spawned_are_followed(&servers.at("hosts"), Over::Tcp);
    nobody_outlives_a_killed_launch(&servers.at("hosts"), 2);
}
