//! The account that servers run as. Both refuse root, so for root they run as `nobody`, by `setpriv`.

use crate::ServiceError;
use antiphon_runner::Program;
use nix::unistd::{Gid, Uid, User};
use std::ffi::OsStr;
use std::path::Path;

/// Who runs a server.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Account {
    /// This process's own user.
    Ours,
    /// Another, since this process is root.
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

    /// Makes a folder or file the account's.
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

    /// A program that runs as the account, in `folder`, with nothing of our environment but `PATH`. Should its keeper be killed, it
    /// ends as well: the system forgets that wish when a process changes its user, so it is made anew.
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
