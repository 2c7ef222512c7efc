//! A caller at the sockets of a session, written after the documentation of the handshake and
//! without the library's code.

use std::collections::BTreeSet;
use std::fs;
use std::io::{ErrorKind, Read, Write};
use std::net::{Ipv4Addr, SocketAddr, SocketAddrV4, TcpStream};
use std::time::Duration;

use antiphon_panda::platform::Secret;

/// The purposes of a connection, by number.
pub const FRAMES: u8 = 1;
pub const BOOTSTRAP: u8 = 2;
/// The two sides of a connection, by number.
pub const CONNECTS: u8 = 1;
/// Rank of a caller without a rank.
pub const NO_RANK: u32 = u32::MAX;
/// Bytes of a challenge.
pub const CHALLENGE: usize = 16 + 32;

pub fn opening(own: u32, meant: u32, length: u8, name: &[u8]) -> Vec<u8> {
    let mut bytes = b"sixteen at random".to_vec();
    bytes.truncate(16);
    bytes.extend(own.to_le_bytes());
    bytes.extend(meant.to_le_bytes());
    bytes.push(length);
    bytes.extend(name);
    bytes
}

pub fn proof(secret: Secret, purpose: u8, side: u8, said: &[&[u8]]) -> [u8; 32] {
    let key = blake3::derive_key("antiphon panda: begin of a connection", &secret.0);
    let whole = [&[purpose, side][..], &said.concat()].concat();
    *blake3::keyed_hash(&key, &whole).as_bytes()
}

/// Opens a connection whose reads have a timeout.
pub fn dial(address: SocketAddr) -> TcpStream {
    let stream = TcpStream::connect(address).unwrap();
    let patience = Some(Duration::from_secs(60));
    stream.set_read_timeout(patience).unwrap();
    stream
}

/// Sends the opening and reads the challenge. Returns `None` if the other end hangs up, as a
/// process does that the opening does not name.
pub fn challenged(mut stream: &TcpStream, opening: &[u8]) -> Option<[u8; CHALLENGE]> {
    let mut challenge = [0; CHALLENGE];
    stream.write_all(opening).ok()?;
    stream.read_exact(&mut challenge).ok()?;
    Some(challenge)
}

/// Opens a connection as a process of this rank that knows the secret. Returns `None` if the other
/// end is not the process that the opening names.
pub fn call(
    address: SocketAddr,
    secret: Secret,
    (purpose, own, meant): (u8, u32, u32),
) -> Option<TcpStream> {
    let mut stream = dial(address);
    let opening = opening(own, meant, 4, b"liar");
    let challenge = challenged(&stream, &opening)?;
    let proof = proof(secret, purpose, CONNECTS, &[&opening, &challenge[..16]]);
    stream.write_all(&proof).ok()?;
    Some(stream)
}

/// Returns whether the other end closes the connection. Bytes before that are dropped.
pub fn is_hung_up(mut stream: &TcpStream) -> bool {
    loop {
        match stream.read(&mut [0; 256]) {
            Ok(0) => return true,
            Ok(_) => {}
            Err(error) => return error.kind() == ErrorKind::ConnectionReset,
        }
    }
}

/// Returns the addresses of this process's sockets in a state, from the kernel's table of a
/// protocol.
pub fn own_sockets(protocol: &str, state: &str) -> BTreeSet<SocketAddr> {
    let fds = fs::read_dir("/proc/self/fd").unwrap().flatten();
    let own: BTreeSet<String> = fds
        .filter_map(|fd| fs::read_link(fd.path()).ok())
        .map(|target| target.to_string_lossy().into_owned())
        .collect();
    let table = fs::read_to_string(format!("/proc/self/net/{protocol}")).unwrap();
    let rows = table.lines().skip(1).map(|row| row.split_whitespace());
    let addresses = rows.filter_map(|row| {
        let fields: Vec<&str> = row.collect();
        let (ip, port) = fields.get(1)?.split_once(':')?;
        let is_own = own.contains(&format!("socket:[{}]", fields.get(9)?));
        let ip = u32::from_str_radix(ip, 16).ok()?.to_ne_bytes();
        let port = u16::from_str_radix(port, 16).ok()?;
        let address = SocketAddrV4::new(Ipv4Addr::from(ip), port);
        (is_own && fields.get(3) == Some(&state)).then_some(SocketAddr::V4(address))
    });
    addresses.collect()
}
