//! Socket options that the libraries do not name, and other requests that they do not make.

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

/// Returns the beginning of an option's value, and how many of its bytes the system has given.
///
/// # Errors
///
/// The system does not know the option.
pub fn get<const N: usize>(
    socket: &impl AsRawFd,
    level: libc::c_int,
    option: libc::c_int,
) -> io::Result<([u8; N], usize)> {
    let mut value = [0; N];
    let mut length = N as libc::socklen_t;
    // SAFETY: `value` and `length` live during the call, which writes at most `length` bytes.
    let result = unsafe {
        libc::getsockopt(
            socket.as_raw_fd(),
            level,
            option,
            value.as_mut_ptr().cast(),
            &raw mut length,
        )
    };
    match result {
        0 => Ok((value, length as usize)),
        _ => Err(io::Error::last_os_error()),
    }
}

/// Returns how many bytes of a connection its other end has not acknowledged.
///
/// # Errors
///
/// The socket is no connection.
pub fn unacknowledged(socket: &impl AsRawFd) -> io::Result<u64> {
    let mut bytes: libc::c_int = 0;
    // SAFETY: this request writes an `int`, which lives during the call.
    let result = unsafe { libc::ioctl(socket.as_raw_fd(), libc::TIOCOUTQ, &raw mut bytes) };
    match result {
        0 => Ok(bytes.try_into().unwrap_or(0)),
        _ => Err(io::Error::last_os_error()),
    }
}
