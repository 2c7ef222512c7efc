//! Headers on the wire: a length, a value in postcard's form, then the body.

use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::message::{DecodeError, Message, value_in};

/// Puts a header before a body.
pub fn pack<H: Serialize>(header: &H, mut body: Message) -> Message {
    let mut small = [0; 48];
    if let Ok(bytes) = postcard::to_slice(header, &mut small) {
        body.push(bytes);
        let length = bytes.len() as u32;
        body.push(&length.to_le_bytes());
        return body;
    }
    let bytes =
        postcard::to_stdvec(header).expect("headers are plain data, which postcard always takes");
    body.push(&bytes);
    body.push(&(bytes.len() as u32).to_le_bytes());
    body
}

/// Splits header and body.
///
/// # Errors
///
/// There is no such header. Nothing is allocated beyond the message's own length.
pub fn unpack<H: DeserializeOwned>(mut message: Message) -> Result<(H, Message), DecodeError> {
    let length = u32::from_le_bytes(message.pop()?) as usize;
    if let Some(bytes) = message.front(length) {
        let header = value_in(bytes)?;
        message.advance(length);
        return Ok((header, message));
    }
    let header = message.split_to(length)?;
    Ok((header.value()?, message))
}
