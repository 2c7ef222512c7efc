//! What both servers share: where they listen.

use std::net::{Ipv4Addr, SocketAddr};
use tokio::net::TcpListener;

/// A listener on this machine's own address, at the port that the command line gives.
///
/// # Errors
/// There is no port on the command line, or it cannot be listened on.
pub async fn listener() -> Result<TcpListener, Box<dyn std::error::Error>> {
    let port = std::env::args().nth(1).ok_or("usage: server PORT")?;
    let address = SocketAddr::from((Ipv4Addr::LOCALHOST, port.parse()?));
    Ok(TcpListener::bind(address).await?)
}
