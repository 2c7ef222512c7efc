//! The connections that a joining process makes. It makes all at once, each as far as its other end
//! allows, so that none waits for another.

use std::io::{self, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::net::{AddressFamily, SocketFlags, SocketType};

use crate::platform::LaunchInfo;
use crate::platform::acceptor;
use crate::platform::bootstrap::{Contact, Found};
use crate::platform::handshake::{
    AGAIN, CHALLENGE, Connecting, Purpose, hung_up, pause_before_again,
};

/// Time for which founders are waited for.
pub const FOUNDER_WAIT: Duration = Duration::from_secs(30);
/// Time for which a later process waits for each one that is there. So a process that was stopped,
/// or whose host is cut off, does not keep it out.
const ANSWER: Duration = Duration::from_secs(5);
/// Time for which a later process tries again after the other end hung up.
const AGAIN_LATE: Duration = Duration::from_millis(500);
/// Time for which it waits for a process that did not answer an earlier newcomer.
const DOUBTED_ANSWER: Duration = Duration::from_secs(1);

/// Byte that the called process sends when it has entered the caller: from then on it can send to
/// the caller. Frames follow.
pub const WELCOME: u8 = 1;

/// Calls all contacts, and returns each one's result.
pub fn call_all<'a>(
    contacts: impl Iterator<Item = &'a Contact>,
    info: &LaunchInfo,
) -> Vec<(&'a Contact, io::Result<TcpStream>)> {
    let began = Instant::now();
    let begin = |contact| Call {
        contact,
        until: began + patience_with(contact, info),
        again_until: began + again_with(info),
        tries: 1,
        stage: Stage::Pauses(began, silent()),
    };
    let mut calls: Vec<Call<'_>> = contacts.map(begin).collect();
    while calls.iter().any(Call::is_under_way) {
        for at in ready(&calls) {
            calls[at].go_on(info);
        }
    }
    let ended = calls.into_iter().map(|call| match call.stage {
        Stage::Ended(ended) => (call.contact, ended),
        _ => unreachable!("none is under way"),
    });
    ended.collect()
}

fn patience_with(contact: &Contact, info: &LaunchInfo) -> Duration {
    match info.rank < info.size {
        true => FOUNDER_WAIT,
        false if contact.found == Found::Silent => DOUBTED_ANSWER,
        false => ANSWER,
    }
}

/// Returns how long to try a call again after the other end hung up. A founder is there, behind a
/// flood of strangers. A process that came before this one may have ended.
fn again_with(info: &LaunchInfo) -> Duration {
    match info.rank < info.size {
        true => AGAIN,
        false => AGAIN_LATE,
    }
}

/// Waits until calls can go on, or their time is over. Returns their places.
fn ready(calls: &[Call<'_>]) -> Vec<usize> {
    let under_way = || (0..).zip(calls).filter(|(_, call)| call.is_under_way());
    let sockets = under_way().filter_map(|(at, call)| Some((at, call.stage.waits_for()?)));
    let (places, mut sockets): (Vec<usize>, Vec<PollFd<'_>>) = sockets.unzip();
    let first = under_way().map(|(_, call)| call.due()).min();
    let left = first.map_or(Duration::ZERO, |at| {
        at.saturating_duration_since(Instant::now())
    });
    let left = Timespec::try_from(left).unwrap_or_default();
    // After an interruption by a signal, all calls are looked at again.
    let _ = poll(&mut sockets, Some(&left));
    let now = Instant::now();
    let are_ready = places.into_iter().zip(&sockets);
    let are_ready = are_ready.filter(|(_, socket)| !socket.revents().is_empty());
    let are_due = under_way().filter(|(_, call)| call.due() <= now);
    let mut ready: Vec<usize> = are_ready.map(|(at, _)| at).collect();
    ready.extend(are_due.map(|(at, _)| at));
    ready
}

/// A call of one process.
struct Call<'a> {
    contact: &'a Contact,
    until: Instant,
    /// Time until which a call is tried again after the other end hung up.
    again_until: Instant,
    tries: u32,
    stage: Stage,
}

/// The stage of a call.
enum Stage {
    Connects(TcpStream, Connecting),
    /// Waits for the challenge, of which some may have come.
    Proves(TcpStream, Connecting, Vec<u8>),
    /// Waits until the other end can send here.
    Enters(TcpStream),
    /// Waits for the next try at this time, after an error.
    Pauses(Instant, io::Error),
    Ended(io::Result<TcpStream>),
}

impl Call<'_> {
    fn is_under_way(&self) -> bool {
        !matches!(self.stage, Stage::Ended(_))
    }

    /// Returns when the call goes on by itself.
    fn due(&self) -> Instant {
        match self.stage {
            Stage::Pauses(again, _) => again.min(self.until),
            _ => self.until,
        }
    }

    /// Goes as far as it can without waiting. Bytes that have come are taken even after its time.
    fn go_on(&mut self, info: &LaunchInfo) {
        while self.is_under_way() {
            let stage = std::mem::replace(&mut self.stage, Stage::Ended(Err(silent())));
            match stage.step(self.contact, info) {
                Ok(Step::On(next)) => self.stage = next,
                Ok(Step::Waits(stage)) => {
                    self.stage = stage;
                    break;
                }
                Ok(Step::Ended(stream)) => {
                    self.stage = Stage::Ended(Ok(stream));
                }
                Err(error) => {
                    self.stage = self.after(error);
                    break;
                }
            }
        }
        if self.is_under_way() && Instant::now() >= self.until {
            let stage = std::mem::replace(&mut self.stage, Stage::Ended(Err(silent())));
            if let Stage::Pauses(_, error) = stage {
                self.stage = Stage::Ended(Err(error));
            }
        }
    }

    /// Returns the stage after a failed try.
    fn after(&mut self, error: io::Error) -> Stage {
        match pause_before_again(&error, self.tries, self.again_until) {
            None => Stage::Ended(Err(error)),
            Some(pause) => {
                self.tries += 1;
                Stage::Pauses(Instant::now() + pause, error)
            }
        }
    }
}

/// The result of a step.
enum Step {
    On(Stage),
    Waits(Stage),
    Ended(TcpStream),
}

impl Stage {
    /// Returns the readiness for which its socket waits.
    fn waits_for(&self) -> Option<PollFd<'_>> {
        match self {
            Self::Connects(stream, _) => Some(PollFd::new(stream, PollFlags::OUT)),
            Self::Proves(stream, ..) | Self::Enters(stream) => {
                Some(PollFd::new(stream, PollFlags::IN))
            }
            Self::Pauses(..) | Self::Ended(_) => None,
        }
    }

    /// Goes one step on, if it can without waiting.
    fn step(self, contact: &Contact, info: &LaunchInfo) -> io::Result<Step> {
        match self {
            Self::Connects(mut stream, connecting) => {
                if !is_connected(&stream)? {
                    return Ok(Step::Waits(Self::Connects(stream, connecting)));
                }
                // A new connection has room for these few bytes.
                stream.write_all(connecting.opening())?;
                Ok(Step::On(Self::Proves(stream, connecting, Vec::new())))
            }
            Self::Proves(stream, connecting, mut heard) => {
                let Some(said) = hear::<CHALLENGE>(&stream, &mut heard)? else {
                    return Ok(Step::Waits(Self::Proves(stream, connecting, heard)));
                };
                connecting.prove(&said, &stream)?;
                Ok(Step::On(Self::Enters(stream)))
            }
            Self::Enters(stream) => match hear(&stream, &mut Vec::new())? {
                None => Ok(Step::Waits(Self::Enters(stream))),
                Some([WELCOME]) => Ok(Step::Ended(stream)),
                Some([other]) => Err(io::Error::new(
                    io::ErrorKind::InvalidData,
                    format!("who listens there says {other}: it is of another version of Antiphon"),
                )),
            },
            Self::Pauses(again, _) if Instant::now() >= again => {
                let (stream, connecting) = connect(contact, info)?;
                Ok(Step::On(Self::Connects(stream, connecting)))
            }
            Self::Pauses(..) => Ok(Step::Waits(self)),
            Self::Ended(ended) => ended.map(Step::Ended),
        }
    }
}

/// Begins to connect, without waiting for it.
fn connect(contact: &Contact, info: &LaunchInfo) -> io::Result<(TcpStream, Connecting)> {
    let ranks = (info.rank, contact.rank);
    let connecting = Connecting::new(info.secret, Purpose::Frames, ranks, &info.name)?;
    let address: SocketAddr = contact.address.parse().map_err(|_| {
        let why = "it gave what is no address and port: it is of another version of Antiphon";
        io::Error::new(io::ErrorKind::InvalidData, why)
    })?;
    let family = match address {
        SocketAddr::V4(_) => AddressFamily::INET,
        SocketAddr::V6(_) => AddressFamily::INET6,
    };
    let flags = SocketFlags::NONBLOCK | SocketFlags::CLOEXEC;
    let socket = rustix::net::socket_with(family, SocketType::STREAM, flags, None)?;
    match rustix::net::connect(&socket, &address) {
        Ok(()) | Err(Errno::INPROGRESS | Errno::INTR) => Ok((socket.into(), connecting)),
        Err(error) => Err(error.into()),
    }
}

/// Returns whether a connection that was begun is there.
fn is_connected(stream: &TcpStream) -> io::Result<bool> {
    if let Some(error) = stream.take_error()? {
        return Err(error);
    }
    match stream.peer_addr() {
        Ok(_) => Ok(true),
        Err(error) if error.kind() == io::ErrorKind::NotConnected => Ok(false),
        Err(error) => Err(error),
    }
}

/// Reads the other end's message, of which some bytes may be in `heard`, once it is complete. Reads
/// nothing behind it.
fn hear<const N: usize>(
    mut stream: &TcpStream,
    heard: &mut Vec<u8>,
) -> io::Result<Option<[u8; N]>> {
    let mut said = [0; N];
    while heard.len() < N {
        match stream.read(&mut said[heard.len()..]) {
            Ok(0) => return Err(hung_up()),
            Ok(count) => {
                let at = heard.len();
                heard.extend_from_slice(&said[at..at + count]);
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Ok(None),
            Err(error) => return Err(error),
        }
    }
    said.copy_from_slice(heard);
    Ok(Some(said))
}

fn silent() -> io::Error {
    let backlog = acceptor::backlog().map_or_else(String::new, |most| {
        format!(" (the system keeps {most} for it, raise that with `sysctl net.core.somaxconn`)")
    });
    let why = format!(
        "it did not answer: it is stopped, cut off, may open no more files, or has more connections to accept than it gets to{backlog}"
    );
    io::Error::new(io::ErrorKind::TimedOut, why)
}

#[cfg(test)]
mod tests {
    use std::net::TcpListener;
    use std::sync::atomic::{AtomicBool, Ordering::SeqCst};
    use std::thread;

    use socket2::{Domain, Socket, Type};

    use super::*;
    use crate::platform::handshake::{Accepting, Progress};
    use crate::platform::{Rank, Secret};

    /// Returns the launch info of a later process, in a session that began with one process.
    fn late() -> LaunchInfo {
        LaunchInfo {
            platform: "tcp".into(),
            rank: 9,
            size: 1,
            name: "rank 9".into(),
            bootstrap: String::new(),
            address: None,
            silence: None,
            parent: None,
            starter: None,
            secret: Secret([7; 16]),
        }
    }

    fn contact(rank: Rank, address: SocketAddr) -> Contact {
        Contact {
            rank,
            name: format!("rank {rank}"),
            address: address.to_string(),
            found: Found::There,
        }
    }

    fn listener() -> (TcpListener, SocketAddr) {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        (listener, address)
    }

    /// Accepts one call, and welcomes it when told to.
    fn answer(listener: &TcpListener, rank: Rank, welcome: impl FnOnce()) {
        let mut stream = listener.accept().unwrap().0;
        let mut accepting = Accepting::new(late().secret, Purpose::Frames, rank);
        while accepting.read(&stream).expect("no stranger") == Progress::More {}
        welcome();
        stream.write_all(&[WELCOME]).unwrap();
    }

    /// Returns a listener that accepts nothing any more, so that the system answers no call.
    fn full() -> (Vec<Socket>, SocketAddr) {
        let socket = || Socket::new(Domain::IPV4, Type::STREAM, None).unwrap();
        let listener = socket();
        let any: SocketAddr = "127.0.0.1:0".parse().unwrap();
        listener.bind(&any.into()).unwrap();
        listener.listen(0).unwrap();
        let at = listener.local_addr().unwrap();
        let mut sockets = vec![listener];
        for _ in 0..4 {
            let caller = socket();
            caller.set_nonblocking(true).unwrap();
            // The connection is there at once, or never.
            let _ = caller.connect(&at);
            sockets.push(caller);
        }
        (sockets, at.as_socket().expect("an address"))
    }

    #[test]
    fn who_does_not_answer_holds_up_none_of_the_others() {
        let (mute, mute_at) = listener();
        let (_full, full_at) = full();
        let (good, good_at) = listener();
        let (gone, gone_at) = listener();
        drop(gone);
        let contacts = [
            contact(1, full_at),
            contact(2, mute_at),
            contact(3, gone_at),
            contact(4, good_at),
        ];
        thread::scope(|scope| {
            scope.spawn(|| answer(&good, 4, || ()));
            let called = call_all(contacts.iter(), &late());
            let kinds = called.iter().map(|(contact, ended)| {
                let kind = ended.as_ref().err().map(io::Error::kind);
                (contact.rank, kind)
            });
            use io::ErrorKind::{ConnectionRefused, TimedOut};
            let expected = [
                (1, Some(TimedOut)),
                (2, Some(TimedOut)),
                (3, Some(ConnectionRefused)),
                (4, None),
            ];
            assert_eq!(kinds.collect::<Vec<_>>(), expected);
        });
        let said = silent().to_string();
        let is_told =
            acceptor::backlog().is_none_or(|most| said.contains(&format!("keeps {most}")));
        assert!(is_told && said.contains("no more files"), "{said}");
        drop(mute);
    }

    #[test]
    fn a_call_has_ended_when_the_other_end_can_send_here() {
        let (good, address) = listener();
        let contact = contact(1, address);
        let can_send = AtomicBool::new(false);
        let welcome = || {
            // A process that did not wait for it would be done before.
            thread::sleep(Duration::from_millis(200));
            can_send.store(true, SeqCst);
        };
        thread::scope(|scope| {
            scope.spawn(|| answer(&good, 1, welcome));
            let called = call_all([&contact].into_iter(), &late());
            assert!(called[0].1.is_ok() && can_send.load(SeqCst));
        });
    }

    #[test]
    fn who_was_hung_up_on_tries_again() {
        let (good, address) = listener();
        let contact = contact(1, address);
        thread::scope(|scope| {
            scope.spawn(|| {
                drop(good.accept().unwrap());
                answer(&good, 1, || ());
            });
            let called = call_all([&contact].into_iter(), &late());
            assert!(called[0].1.is_ok(), "{:?}", called[0].1);
        });
    }
}
