//! Sessions between hosts over a network that loses, doubles, delays and reorders Ethernet frames,
//! splits and heals. The hosts are network namespaces around a switch of our own. These tests take
//! root, and are skipped with the reason otherwise.
//!
//! `PANDA_SEED` seeds the faults of the network.

mod host;
mod multicast;
mod partition;
mod switch;

use std::collections::BTreeSet;
use std::net::{SocketAddr, UdpSocket};
use std::thread;
use std::time::Duration;

use antiphon_panda::platform::{Bootstrap, Platform, Secret, Tcp, Udp, udp};
use antiphon_panda::session::SILENCE;
use antiphon_panda::{LaunchInfo, Session};

use crate::conformance;
use host::Host;
use host::Version::{self, V4, V6};
use switch::{Switch, Weather};

/// Hosts for the processes, and one more for the process that starts them.
struct Network {
    hosts: Vec<Host>,
    switch: Switch,
}

impl Network {
    fn new(version: Version, size: u32, weather: Weather) -> Self {
        let hosts = (1..).take(size as usize + 1);
        let hosts = hosts.map(|number| Host::new(version, number));
        let hosts: Result<Vec<_>, String> = hosts.collect();
        let (hosts, cables) = hosts.expect("it could before").into_iter().unzip();
        Self {
            hosts,
            switch: Switch::new(cables, weather),
        }
    }

    /// Joins a session with each launch info, on its host.
    fn session<P: Platform>(&self, infos: Vec<LaunchInfo>, silence: Duration) -> Vec<Session> {
        let join = |info: LaunchInfo| {
            let (platform, inbox) = P::join(&info).expect("joined");
            Session::over(platform, inbox, &info, silence).expect("a thread")
        };
        thread::scope(|scope| {
            let infos = self.hosts.iter().zip(infos);
            let joining: Vec<_> = infos
                .map(|(host, info)| scope.spawn(move || host.run(move || join(info))))
                .collect();
            let sessions = joining.into_iter().map(|one| one.join().expect("no panic"));
            sessions.collect()
        })
    }

    fn over_udp(&self, size: u32, silence: Duration) -> Vec<Session> {
        let starter = self.hosts.last().expect("one that starts");
        let address = SocketAddr::new(starter.address, 0);
        let secret = Secret::fresh().expect("random numbers");
        let bootstrap = starter.run(|| udp::Bootstrap::at(address, size, secret).expect("a port"));
        let infos = (0..size).map(|rank| bootstrap.launch_info(rank)).collect();
        let sessions = self.session::<Udp>(infos, silence);
        starter.run(|| drop(bootstrap));
        sessions
    }

    fn over_tcp(&self, size: u32, silence: Duration) -> Vec<Session> {
        let starter = self.hosts.last().expect("one that starts");
        let address = SocketAddr::new(starter.address, 0);
        let secret = Secret::fresh().expect("random numbers");
        let bootstrap = starter.run(|| Bootstrap::hold(address, size, secret).expect("a port"));
        let name = Tcp::NAME;
        let infos = (0..size)
            .map(|rank| bootstrap.launch_info(name, rank))
            .collect();
        let sessions = self.session::<Tcp>(infos, silence);
        starter.run(|| drop(bootstrap));
        sessions
    }
}

/// Returns the seed of the faults.
fn seed() -> u64 {
    let given = std::env::var("PANDA_SEED").ok();
    given.map_or(1, |seed| seed.parse().expect("PANDA_SEED is a number"))
}

/// Returns the faults of a bad network.
fn bad() -> Weather {
    Weather {
        seed: seed(),
        lost: 50,
        doubled: 30,
        replayed: 0,
        late: 100,
        late_us: 2000,
        delay_us: (50, 300),
    }
}

/// Returns the faults of a network that loses nothing.
fn good() -> Weather {
    Weather {
        seed: seed(),
        lost: 0,
        doubled: 0,
        replayed: 0,
        late: 0,
        late_us: 0,
        delay_us: (10, 20),
    }
}

/// Runs a test where hosts can be made. A failure prints how to run it again.
fn tested(name: &'static str, version: Version, test: impl FnOnce()) {
    struct Replay(&'static str);
    impl Drop for Replay {
        fn drop(&mut self) {
            if thread::panicking() {
                eprintln!(
                    "PANDA_SEED={} cargo test -p antiphon-panda --test it network::{}",
                    seed(),
                    self.0
                );
            }
        }
    }
    if let Some(why) = host::missing(version) {
        eprintln!("skipped: {why} (it takes root)");
        return;
    }
    let _replay = Replay(name);
    test();
}

/// Returns a network that stays until this process ends, because the session's processes have
/// sockets in it.
fn kept(version: Version, size: u32, weather: Weather) -> &'static Network {
    Box::leak(Box::new(Network::new(version, size, weather)))
}

macro_rules! conformance_over {
    ($name:ident, $platform:ident, $version:expr, $weather:expr; $($test:ident)*) => {
        mod $name {
            use super::*;

            fn session(size: u32) -> Vec<Session> {
                kept($version, size, $weather).$platform(size, SILENCE)
            }

            $(#[test]
            fn $test() {
                tested(
                    concat!(stringify!($name), "::", stringify!($test)),
                    $version,
                    || conformance::$test(session),
                );
            })*
        }
    };
}

conformance_over!(over_udp, over_udp, V4, bad();
    messages_come_in_their_senders_order
    messages_of_all_lengths_arrive_whole
    a_receiver_chooses_by_sender_and_tag
    calls_are_answered_at_once_or_later_and_failures_name_the_peer
    a_group_has_one_order
    a_joiner_begins_at_one_point
    collectives_agree
    communicators_carry_bytes
    a_lost_peer_is_named_and_the_group_goes_on
    upcalls_may_send
);

conformance_over!(over_udp_on_ipv6, over_udp, V6, bad();
    messages_of_all_lengths_arrive_whole
    calls_are_answered_at_once_or_later_and_failures_name_the_peer
    a_group_has_one_order
    a_joiner_begins_at_one_point
    collectives_agree
    a_lost_peer_is_named_and_the_group_goes_on
);

/// The cards' packets are shorter than datagrams, so no card can segment a run of datagrams.
mod in_short_packets {
    use super::*;

    fn session(version: Version, size: u32, bytes: i32) -> Vec<Session> {
        let network = kept(version, size, good());
        for host in &network.hosts {
            host.shorten_packets(bytes);
        }
        network.over_udp(size, SILENCE)
    }

    #[test]
    fn messages_of_all_lengths_arrive_whole() {
        let name = "in_short_packets::messages_of_all_lengths_arrive_whole";
        tested(name, V4, || {
            conformance::messages_of_all_lengths_arrive_whole(|size| session(V4, size, 1200));
        });
    }

    #[test]
    fn messages_of_all_lengths_arrive_whole_on_ipv6() {
        let name = "in_short_packets::messages_of_all_lengths_arrive_whole_on_ipv6";
        tested(name, V6, || {
            // IPv6 allows no shorter packets than these.
            conformance::messages_of_all_lengths_arrive_whole(|size| session(V6, size, 1280));
        });
    }
}

// Every third frame is followed by one that was recorded earlier in the session.
conformance_over!(over_udp_with_replays, over_udp, V4, Weather { replayed: 300, ..bad() };
    a_group_has_one_order
    calls_are_answered_at_once_or_later_and_failures_name_the_peer
    collectives_agree
    a_lost_peer_is_named_and_the_group_goes_on
);

conformance_over!(over_tcp, over_tcp, V4, bad();
    a_group_has_one_order
    a_lost_peer_is_named_and_the_group_goes_on
);

conformance_over!(over_tcp_on_ipv6, over_tcp, V6, bad();
    a_joiner_begins_at_one_point
    a_lost_peer_is_named_and_the_group_goes_on
);

/// Bare datagrams between hosts: some are lost, doubled and overtaken, and none passes a split.
#[test]
fn the_network_is_bad() {
    tested("the_network_is_bad", V4, || {
        let network = Network::new(V4, 2, bad());
        let open = |host: &Host| {
            let address = SocketAddr::new(host.address, 0);
            let socket = host.run(|| UdpSocket::bind(address).expect("a port"));
            let patience = Some(Duration::from_millis(2));
            socket.set_read_timeout(patience).expect("set");
            socket
        };
        let (from, to) = (open(&network.hosts[0]), open(&network.hosts[1]));
        let address = to.local_addr().expect("bound");
        let mut came = Vec::new();
        let receive = |came: &mut Vec<usize>| {
            let mut number = [0; 8];
            let is_any = to.recv(&mut number).is_ok();
            came.extend(is_any.then_some(usize::from_le_bytes(number)));
            is_any
        };
        // The first datagrams make the switch learn the ports.
        while !receive(&mut came) {
            from.send_to(&0_usize.to_le_bytes(), address).expect("sent");
        }
        for number in 1..2000_usize {
            from.send_to(&number.to_le_bytes(), address).expect("sent");
            if number % 20 == 0 {
                while receive(&mut came) {}
            }
        }
        for _ in 0..20 {
            while receive(&mut came) {}
        }
        came.retain(|number| *number != 0);
        let different: BTreeSet<usize> = came.iter().copied().collect();
        let lost = 1999 - different.len();
        let doubled = came.len() - different.len();
        let overtaken = came.windows(2).filter(|pair| pair[0] > pair[1]).count();
        println!("{lost} lost, {doubled} doubled, {overtaken} overtaken of 1999");
        assert!(lost > 0 && doubled > 0 && overtaken > doubled);
        network.switch.split(&[1]);
        from.send_to(&0_usize.to_le_bytes(), address).expect("sent");
        let is_any = (0..20).any(|_| receive(&mut came));
        assert!(!is_any, "the network is split");
        network.switch.heal();
        while !receive(&mut came) {
            from.send_to(&0_usize.to_le_bytes(), address).expect("sent");
        }
    });
}
