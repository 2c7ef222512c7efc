//! A program over `tcp` and `local` alone: `tests/parameters.rs` looks into its executable for what such a program must not contain.

use antiphon_panda::platform::{Local, Platform, Tcp};
use antiphon_panda::session::SILENCE;
use antiphon_panda::{Error, Message, Seat, Session};

fn talk(session: &Session) -> Result<(), Error> {
    let group = session.join_group("talk", |_| ())?;
    group.send(Message::of(&session.rank())?)?;
    session.everyone()?.barrier()?;
    group.leave()
}

fn main() -> Result<(), Error> {
    match Seat::from_environment() {
        Ok(seat) => {
            let (tcp, inbox) = Tcp::join(&seat)?;
            talk(&Session::over(tcp, inbox, &seat, SILENCE)?)
        }
        Err(_) => Local::session(1)
            .into_iter()
            .try_for_each(|(seat, local, inbox)| {
                talk(&Session::over(local, inbox, &seat, SILENCE)?)
            }),
    }
}
