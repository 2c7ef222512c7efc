//! Messages of a value and bytes.

use antiphon_panda::message::value_in;
use antiphon_panda::{DecodeError, Message};
use bytes::{Buf, Bytes};
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
    let mut bytes = message.into_bytes();
    let header = bytes.get(..length).ok_or(DecodeError::Short {
        want: length,
        have: bytes.len(),
    })?;
    let header = value_in(header)?;
    bytes.advance(length);
    Ok((header, bytes))
}

/// Makes a message of bytes before which headers come. A few bytes are copied, so that they are in
/// one piece with the headers.
pub fn behind_headers(bytes: &Bytes) -> Message {
    const FEW: usize = 16;
    match bytes.len() <= FEW {
        true => Message::copy_of(bytes),
        false => Message::from(bytes.clone()),
    }
}
