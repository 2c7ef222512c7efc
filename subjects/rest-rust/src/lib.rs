//! What both servers share: where they listen, and how streams send.

use std::net::{Ipv4Addr, SocketAddr};
use tokio::net::{TcpListener, TcpSocket, TcpStream};

/// Connections that may wait to be accepted. `TcpListener::bind` asks for 128: of 256 that come at once some would then wait a second for their client to ask
/// again, and no other server's do.
const BACKLOG: u32 = 1024;

/// A listener on this machine's own address, at the port that the command line gives.
///
/// # Errors
/// There is no port on the command line, or it cannot be listened on.
pub fn listener() -> Result<TcpListener, Box<dyn std::error::Error>> {
    let port = std::env::args().nth(1).ok_or("usage: server PORT")?;
    let address = SocketAddr::from((Ipv4Addr::LOCALHOST, port.parse()?));
    let socket = TcpSocket::new_v4()?;
    socket.set_reuseaddr(true)?;
    socket.bind(address)?;
    Ok(socket.listen(BACKLOG)?)
}

/// Has a stream send what is written at once. One that cannot be told so is slower, not wrong.
pub fn send_at_once(stream: &TcpStream) {
    if let Err(error) = stream.set_nodelay(true) {
        eprintln!("a stream that sends when it likes: {error}");
    }
}
