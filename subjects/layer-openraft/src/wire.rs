//! Frames on a connection: a length of four bytes, and a value in postcard's encoding.

use std::io::{self, Read, Write};

use serde::Serialize;
use serde::de::DeserializeOwned;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

/// The longest frame that a member accepts.
const LONGEST: usize = 64 << 20;

fn encoded(value: &impl Serialize) -> io::Result<Vec<u8>> {
    let frame = postcard::to_extend(value, vec![0; 4]).map_err(io::Error::other)?;
    let length = frame.len() - 4;
    let mut frame = frame;
    frame[..4].copy_from_slice(&(length as u32).to_le_bytes());
    Ok(frame)
}

fn length_of(head: [u8; 4]) -> io::Result<usize> {
    let length = u32::from_le_bytes(head) as usize;
    match length <= LONGEST {
        true => Ok(length),
        false => Err(io::Error::other(format!("a frame of {length} bytes came"))),
    }
}

fn decoded<T: DeserializeOwned>(body: &[u8]) -> io::Result<T> {
    postcard::from_bytes(body).map_err(io::Error::other)
}

/// Sends a value.
pub async fn send(stream: &mut TcpStream, value: &impl Serialize) -> io::Result<()> {
    stream.write_all(&encoded(value)?).await
}

/// Receives a value.
pub async fn receive<T: DeserializeOwned>(stream: &mut TcpStream) -> io::Result<T> {
    let mut head = [0; 4];
    stream.read_exact(&mut head).await?;
    let mut body = vec![0; length_of(head)?];
    stream.read_exact(&mut body).await?;
    decoded(&body)
}

/// Sends a request on a connection that blocks, and receives the answer.
pub fn ask<T: DeserializeOwned>(
    stream: &mut std::net::TcpStream,
    request: &impl Serialize,
) -> io::Result<T> {
    stream.write_all(&encoded(request)?)?;
    let mut head = [0; 4];
    stream.read_exact(&mut head)?;
    let mut body = vec![0; length_of(head)?];
    stream.read_exact(&mut body)?;
    decoded(&body)
}
