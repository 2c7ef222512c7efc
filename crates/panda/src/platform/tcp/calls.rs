//! Connections that a process makes when it joins.

use std::io::{self, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};

use crate::platform::Seat;
use crate::platform::handshake::{Connecting, Purpose, may_try_again};
use crate::platform::meeting::Contact;

/// How long founders are waited for.
pub const FOUNDER_WAIT: Duration = Duration::from_secs(30);
/// How long a process that comes later waits for those that are there: one that was stopped does not keep it out.
const ANSWER: Duration = Duration::from_secs(5);

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
    let ended = begun.into_iter().map(|(contact, mut begun)| {
        let mut tries = 1;
        loop {
            let ended = begun.and_then(|(stream, connecting)| {
                connecting.finish(&stream, until)?;
                Ok(stream)
            });
            match ended {
                Err(error) if may_try_again(&error, tries) => tries += 1,
                ended => return (contact, ended),
            }
            begun = begin(contact, seat);
        }
    });
    ended.collect()
}

fn begin(contact: &Contact, seat: &Seat) -> io::Result<(TcpStream, Connecting)> {
    let ranks = (seat.rank, contact.rank);
    let connecting = Connecting::new(seat.secret, Purpose::Frames, ranks, &seat.name)?;
    let mut stream = TcpStream::connect(&contact.address)?;
    stream.write_all(connecting.opening())?;
    Ok((stream, connecting))
}
