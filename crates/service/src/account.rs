//! Account that servers run as. Both servers refuse root, so root runs them as `nobody`, by
//! `setpriv`.

use crate::ServiceError;
use antiphon_runner::Program;
use nix::unistd::{Gid, Uid, User};
use std::ffi::OsStr;
use std::fs::File;
use std::io;
use std::path::Path;

/// The account of a server's process.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Account {
    /// This process's own user.
    Ours,
    /// Another user, because this process is root.
    Other { user: Uid, group: Gid },
}

impl Account {
    pub(crate) fn choose() -> Result<Account, ServiceError> {
        if !Uid::effective().is_root() {
            return Ok(Account::Ours);
        }
        match User::from_name("nobody") {
            Ok(Some(nobody)) => Ok(Account::Other {
                user: nobody.uid,
                group: nobody.gid,
            }),
            Ok(None) | Err(_) => Err(ServiceError::NoAccount),
        }
    }

    /// Gives a folder to the account.
    pub(crate) fn give(self, path: &Path) -> Result<(), ServiceError> {
        let Account::Other { user, group } = self else {
            return Ok(());
        };
        std::os::unix::fs::chown(path, Some(user.as_raw()), Some(group.as_raw())).map_err(
            |source| ServiceError::File {
                path: path.to_owned(),
                source,
            },
        )
    }

    /// Gives an open file to the account.
    pub(crate) fn give_file(self, file: &File) -> io::Result<()> {
        match self {
            Account::Ours => Ok(()),
            Account::Other { user, group } => {
                std::os::unix::fs::fchown(file, Some(user.as_raw()), Some(group.as_raw()))
            }
        }
    }

    /// Returns a program that runs as the account, in `folder`, with no environment but `PATH`.
    ///
    /// It ends if its keeper is killed. The system drops that request when a process changes its
    /// user, so it is made again.
    pub(crate) fn program(self, program: impl AsRef<OsStr>, folder: &Path) -> Program {
        let shown = Path::new(program.as_ref()).file_name();
        let shown = shown.unwrap_or(program.as_ref()).to_string_lossy();
        let started = match self {
            Account::Ours => Program::new(&program),
            Account::Other { user, group } => Program::new("setpriv")
                .arg(format!("--reuid={user}"))
                .arg(format!("--regid={group}"))
                .args(["--clear-groups", "--no-new-privs", "--pdeathsig=KILL", "--"])
                .arg(&program),
        };
        started
            .shown_as(shown)
            .cwd(folder)
            .clear_env()
            .env("LC_ALL", "C")
            .env("HOME", folder)
            .env("TMPDIR", folder)
    }
}
