//! Messages of a value and bytes.

use antiphon_panda::{DecodeError, Message};
use bytes::Bytes;
use serde::Serialize;
use serde::de::DeserializeOwned;

/// Packs a header and the bytes that follow it.
pub fn pack(
    header: &impl Serialize,
    body: impl IntoIterator<Item = Bytes>,
) -> Result<Message, DecodeError> {
    let mut message = Message::of(header)?;
    let length = message.len() as u32;
    for piece in body {
        message.append_bytes(piece);
    }
    message.push(&length.to_le_bytes());
    Ok(message)
}

/// Splits a message that [`pack`] has made.
pub fn unpack<H: DeserializeOwned>(mut message: Message) -> Result<(H, Bytes), DecodeError> {
    let length = u32::from_le_bytes(message.pop()?) as usize;
    let header = message.split_to(length)?;
    Ok((header.value()?, message.to_bytes()))
}
