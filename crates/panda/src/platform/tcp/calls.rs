//! Connections that a process makes when it joins.

use std::io::{self, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};

use crate::platform::Seat;
use crate::platform::handshake::{Connecting, Purpose, hear, may_try_again};
use crate::platform::meeting::Contact;

/// How long founders are waited for.
pub const FOUNDER_WAIT: Duration = Duration::from_secs(30);
/// How long a process that comes later waits for those that are there: one that was stopped does not keep it out.
const ANSWER: Duration = Duration::from_secs(5);

/// What who was called says when it has entered the caller: from then on it can send to it. Frames follow.
pub const WELCOME: u8 = 1;

/// Calls all at once, so that they wait together for those that are slow; each with what became of it.
pub fn call_all<'a>(
    contacts: impl Iterator<Item = &'a Contact>,
    seat: &Seat,
) -> Vec<(&'a Contact, io::Result<TcpStream>)> {
    let patience = match seat.rank < seat.size {
        true => FOUNDER_WAIT,
        false => ANSWER,
    };
    let until = Instant::now() + patience;
    let begun: Vec<_> = contacts
        .map(|contact| (contact, begin(contact, seat)))
        .collect();
    let prove = |contact, begun: io::Result<_>| {
        let prove = |begun| prove(begun, until);
        or_again(begun.and_then(prove), || {
            begin(contact, seat).and_then(prove)
        })
    };
    let proven: Vec<_> = begun
        .into_iter()
        .map(|(contact, begun)| (contact, prove(contact, begun)))
        .collect();
    let ended = proven.into_iter().map(|(contact, proven)| {
        let enter = |stream| welcomed(stream, until);
        let all = || prove(contact, begin(contact, seat)).and_then(enter);
        (contact, or_again(proven.and_then(enter), all))
    });
    ended.collect()
}

/// What a try came to, or another one where the other end hung up on it.
fn or_again(
    first: io::Result<TcpStream>,
    again: impl Fn() -> io::Result<TcpStream>,
) -> io::Result<TcpStream> {
    let (mut ended, mut tries) = (first, 1);
    while let Err(error) = &ended
        && may_try_again(error, tries)
    {
        tries += 1;
        ended = again();
    }
    ended
}

fn begin(contact: &Contact, seat: &Seat) -> io::Result<(TcpStream, Connecting)> {
    let ranks = (seat.rank, contact.rank);
    let connecting = Connecting::new(seat.secret, Purpose::Frames, ranks, &seat.name)?;
    let mut stream = TcpStream::connect(&contact.address)?;
    stream.write_all(connecting.opening())?;
    Ok((stream, connecting))
}

/// Proves to know the secret.
fn prove((stream, connecting): (TcpStream, Connecting), until: Instant) -> io::Result<TcpStream> {
    connecting.finish(&stream, until)?;
    Ok(stream)
}

/// Waits until the other end can send here.
fn welcomed(stream: TcpStream, until: Instant) -> io::Result<TcpStream> {
    let mut said = [0];
    hear(&stream, &mut said, until)?;
    match said {
        [WELCOME] => Ok(stream),
        [other] => {
            let why =
                format!("who listens there says {other}: it is of another version of Antiphon");
            Err(io::Error::new(io::ErrorKind::InvalidData, why))
        }
    }
}
