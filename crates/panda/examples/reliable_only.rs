//! A program over `tcp` and `local` alone. `tests/it/examples.rs` checks that its executable
//! contains no code of other platforms.

use antiphon_panda::platform::{Local, Platform, Tcp};
use antiphon_panda::session::SILENCE;
use antiphon_panda::{Error, LaunchInfo, Message, Session};

fn talk(session: &Session) -> Result<(), Error> {
    let group = session.join_group("talk", |_| ())?;
    group.send(Message::of(&session.rank())?)?;
    session.everyone()?.barrier()?;
    group.leave()
}

fn main() -> Result<(), Error> {
    match LaunchInfo::from_environment() {
        Ok(info) => {
            let (tcp, inbox) = Tcp::join(&info)?;
            talk(&Session::over(tcp, inbox, &info, SILENCE)?)
        }
        Err(_) => Local::session(1)
            .into_iter()
            .try_for_each(|(info, local, inbox)| {
                talk(&Session::over(local, inbox, &info, SILENCE)?)
            }),
    }
}
