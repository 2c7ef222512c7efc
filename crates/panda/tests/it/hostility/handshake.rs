//! The handshake over TCP: the secret is never sent, and a recording opens no connection.

use std::io::{Read, Write};
use std::net::{Ipv4Addr, Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread;

use super::caller::{self, BOOTSTRAP, CHALLENGE, CONNECTS, FRAMES, NO_RANK};
use crate::process::in_own_process;
use antiphon_panda::platform::{Bootstrap, Platform, Secret, Tcp};
use antiphon_panda::session::SILENCE;
use antiphon_panda::{LaunchInfo, Session};

const ANY: (Ipv4Addr, u16) = (Ipv4Addr::LOCALHOST, 0);

in_own_process! {
    a_recorded_beginning_opens_no_door
    a_challenge_that_is_sent_back_is_no_answer
    who_overhears_the_bootstrap_does_not_learn_the_secret
    an_impostor_hears_no_more_than_an_opening
}

fn bootstrap(size: u32) -> (Bootstrap, Secret) {
    let secret = Secret::fresh().unwrap();
    (Bootstrap::hold(ANY.into(), size, secret).unwrap(), secret)
}

fn join(info: &LaunchInfo) -> Session {
    let (tcp, inbox) = Tcp::join(info).unwrap();
    Session::over(tcp, inbox, info, SILENCE).unwrap()
}

/// Returns a session of one process, and its listening address.
fn alone(bootstrap: &Bootstrap) -> (Session, SocketAddr) {
    let info = bootstrap.launch_info("tcp", 0);
    let session = join(&info);
    let mut listening = caller::own_sockets("tcp", "0A");
    listening.remove(&info.bootstrap.parse().unwrap());
    (session, *listening.first().unwrap())
}

/// Waits until a socket has read all earlier bytes, by having a later connection answered.
fn is_heard(at: SocketAddr, secret: Secret) {
    let stream = caller::dial(at);
    let opening = caller::opening(8, 0, 2, b"me");
    let challenge = caller::challenged(&stream, &opening).expect("an answer");
    let right = caller::proof(secret, FRAMES, 2, &[&opening, &challenge[..16]]);
    assert_eq!(challenge[16..], right, "who accepts proves itself, too");
}

#[test]
#[ignore = "in_own_process: it looks for the process's sockets"]
fn a_recorded_beginning_opens_no_door() {
    let (bootstrap, secret) = bootstrap(1);
    let (session, at) = alone(&bootstrap);
    // A process connects while a stranger records it.
    let mut genuine = caller::dial(at);
    let opening = caller::opening(1, 0, 5, b"later");
    let challenge = caller::challenged(&genuine, &opening).unwrap();
    let proof = caller::proof(secret, FRAMES, CONNECTS, &[&opening, &challenge[..16]]);
    genuine.write_all(&proof).unwrap();
    let has_joined = || session.population() == 2;
    assert!(session.wait_until(has_joined, None).unwrap());
    // With this rank or another, the stranger cannot use a recorded answer for another challenge.
    for rank in [1, 2] {
        let mut opening = opening.clone();
        opening[16] = rank;
        let mut stranger = caller::dial(at);
        let other = caller::challenged(&stranger, &opening).expect("anybody is challenged");
        assert_ne!(challenge, other);
        let _ = stranger.write_all(&proof);
        assert!(caller::is_hung_up(&stranger));
    }
    is_heard(at, secret);
    assert_eq!(session.population(), 2);
}

#[test]
#[ignore = "in_own_process: it looks for the process's sockets"]
fn a_challenge_that_is_sent_back_is_no_answer() {
    let (bootstrap, secret) = bootstrap(1);
    let (session, at) = alone(&bootstrap);
    let mut stranger = caller::dial(at);
    let opening = caller::opening(1, 0, 4, b"echo");
    let challenge = caller::challenged(&stranger, &opening).unwrap();
    stranger.write_all(&challenge[16..]).unwrap();
    assert!(caller::is_hung_up(&stranger));
    // A proof for the bootstrap is not valid for a process.
    let mut stranger = caller::dial(at);
    let challenge = caller::challenged(&stranger, &opening).unwrap();
    let others = caller::proof(secret, BOOTSTRAP, CONNECTS, &[&opening, &challenge[..16]]);
    stranger.write_all(&others).unwrap();
    assert!(caller::is_hung_up(&stranger));
    is_heard(at, secret);
    assert_eq!(session.population(), 1);
}

/// Forwards a connection in both directions, and records it.
fn overhear(from: TcpStream, to: TcpStream, heard: &Arc<Mutex<Vec<u8>>>) {
    let ways = [
        (from.try_clone().unwrap(), to.try_clone().unwrap()),
        (to, from),
    ];
    for (mut reader, mut writer) in ways {
        let heard = heard.clone();
        thread::spawn(move || {
            let mut space = [0; 4096];
            while let Ok(count @ 1..) = reader.read(&mut space) {
                heard.lock().unwrap().extend(&space[..count]);
                if writer.write_all(&space[..count]).is_err() {
                    break;
                }
            }
            let _ = writer.shutdown(Shutdown::Write);
        });
    }
}

#[test]
#[ignore = "in_own_process: it looks for the process's sockets"]
fn who_overhears_the_bootstrap_does_not_learn_the_secret() {
    let (bootstrap, secret) = bootstrap(1);
    let between = TcpListener::bind(ANY).unwrap();
    let mut info = bootstrap.launch_info("tcp", 0);
    let bootstrap_at = std::mem::replace(
        &mut info.bootstrap,
        between.local_addr().unwrap().to_string(),
    );
    let heard = Arc::new(Mutex::new(Vec::new()));
    let hearing = heard.clone();
    let listener = thread::spawn(move || {
        let (from, _) = between.accept().unwrap();
        let to = TcpStream::connect(bootstrap_at).unwrap();
        overhear(from, to, &hearing);
    });
    let session = join(&info);
    listener.join().unwrap();
    let heard = heard.lock().unwrap();
    let name = b"rank 0";
    assert!(heard.windows(name.len()).any(|part| part == name));
    let is_said = |part: &[u8]| heard.windows(part.len()).any(|said| said == part);
    assert!(!secret.0.windows(4).any(is_said), "a part of the secret");
    drop(session);
}

/// A process that listens at the bootstrap's old address without the secret learns nothing.
#[test]
#[ignore = "in_own_process: it looks for the process's sockets"]
fn an_impostor_hears_no_more_than_an_opening() {
    let (bootstrap, _) = bootstrap(1);
    let impostor = TcpListener::bind(ANY).unwrap();
    let mut info = bootstrap.launch_info("tcp", 0);
    info.bootstrap = impostor.local_addr().unwrap().to_string();
    let joining = thread::spawn(move || Tcp::join(&info).expect_err("nobody to meet"));
    let (mut victim, _) = impostor.accept().unwrap();
    let mut opening = vec![0; caller::opening(0, NO_RANK, 0, b"").len()];
    victim.read_exact(&mut opening).unwrap();
    assert_eq!(opening[16..], caller::opening(0, NO_RANK, 0, b"")[16..]);
    victim.write_all(&[0; CHALLENGE]).unwrap();
    let mut more = Vec::new();
    let _ = victim.read_to_end(&mut more);
    assert!(more.is_empty(), "it went on: {more:?}");
    let error = joining.join().unwrap().to_string();
    assert!(
        error.contains("does not know this session's secret"),
        "{error}"
    );
}
