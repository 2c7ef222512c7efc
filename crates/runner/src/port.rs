//! A port for a server that is started.

use std::io;
use std::net::{Ipv4Addr, TcpListener};

/// A port of the loopback interface that nobody listens on. Another process may take it before the server does, which then ends: whoever starts it tries
/// another one.
///
/// # Errors
/// There is none, or no descriptor to look with.
pub fn free_port() -> io::Result<u16> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
    Ok(listener.local_addr()?.port())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nobody_listens_on_a_free_port() {
        // Another process may have taken one meanwhile, but hardly all.
        let is_free = |_| TcpListener::bind((Ipv4Addr::LOCALHOST, free_port().unwrap())).is_ok();
        assert!((0..10).any(is_free));
    }
}
