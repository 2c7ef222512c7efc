//! Options of sockets that the libraries do not name.

use std::io;
use std::os::fd::AsRawFd;

/// Sets an option whose value is an `int`.
///
/// # Errors
/// The system does not know it, or refuses it.
pub fn set(
    socket: &impl AsRawFd,
    level: libc::c_int,
    option: libc::c_int,
    value: libc::c_int,
) -> io::Result<()> {
    // SAFETY: the option's value is an `int`, which lives during the call.
    let result = unsafe {
        libc::setsockopt(
            socket.as_raw_fd(),
            level,
            option,
            std::ptr::from_ref(&value).cast(),
            size_of_val(&value) as libc::socklen_t,
        )
    };
    match result {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}
