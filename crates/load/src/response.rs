//! Answers: from received bytes to a whole checked answer, or to its fault.

use crate::Expected;
use crate::fault::head;
use crate::{Fault, Target};
use std::mem::MaybeUninit;

/// Head and body together may not be longer, bytes.
pub(crate) const ANSWER_MAX: usize = 16 << 20;

/// A head may not be longer, with the interim answers before it, bytes.
const HEAD_MAX: usize = 64 << 10;

/// Header lines that are taken.
const LINES_MAX: usize = 1024;

/// Means by which the end of a body is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Framing {
    Length(usize),
    Chunked,
    UntilClosed,
}

/// Content of a head.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Head {
    pub(crate) status: u16,
    /// End of the head and beginning of the body, bytes.
    size: usize,
    framing: Framing,
    /// Whether the server says that it keeps the connection.
    keeps: bool,
}

impl Head {
    /// Checks whether the connection can be used again.
    pub(crate) fn stays(&self) -> bool {
        self.keeps && self.framing != Framing::UntilClosed
    }

    /// Checks whether the answer is still to come.
    fn is_interim(&self) -> bool {
        (100..200).contains(&self.status)
    }
}

/// Heads that were read before, so that one that came before is not read again.
#[derive(Debug, Default)]
pub(crate) struct KnownHead {
    bytes: Vec<u8>,
    head: Option<Head>,
    /// Whether answers have no body, for any length in their heads, as those to HEAD.
    without_body: bool,
}

impl KnownHead {
    /// Creates the state for answers to this target's requests.
    pub(crate) fn of(target: &Target) -> KnownHead {
        KnownHead {
            without_body: target.asks_for_heads(),
            ..KnownHead::default()
        }
    }
}

/// A whole answer in a buffer.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) head: Head,
    /// Bytes of it in the buffer.
    pub(crate) size: usize,
    /// Its body, if it is not a plain piece of the buffer.
    chunks: Option<Vec<u8>>,
}

impl Answer {
    pub(crate) fn body<'b>(&'b self, buffer: &'b [u8]) -> &'b [u8] {
        match &self.chunks {
            Some(body) => body,
            None => &buffer[self.head.size..self.size],
        }
    }

    /// Holds the answer against the expected one.
    pub(crate) fn check(
        &self,
        buffer: &[u8],
        expected: &Expected,
        check_body: bool,
    ) -> Result<(), Fault> {
        if self.head.status != expected.status {
            return Err(Fault::Status {
                got: self.head.status,
                expected: expected.status,
            });
        }
        let body = self.body(buffer);
        if !check_body || *body == *expected.body {
            return Ok(());
        }
        Err(match body.len() == expected.body.len() {
            true => Fault::Body { head: head(body) },
            false => Fault::Length {
                got: body.len(),
                expected: expected.body.len(),
            },
        })
    }
}

/// A connection's answers, as `fuzz/` reads them.
#[doc(hidden)]
#[derive(Debug, Default)]
pub struct Answers(KnownHead);

impl Answers {
    /// Reads the status and the body of the answer at the beginning of `bytes`. There is none while
    /// the answer is not whole, unless it has `ended`.
    ///
    /// # Errors
    /// The bytes are no answer.
    pub fn read(&mut self, bytes: &[u8], ended: bool) -> Result<Option<(u16, Vec<u8>)>, Fault> {
        let answer = read(bytes, ended, &mut self.0)?;
        Ok(answer.map(|answer| (answer.head.status, answer.body(bytes).to_vec())))
    }
}

/// Reads the answer at the beginning of `buffer`; `None` while it is not whole. With `ended`
/// nothing more will come.
pub(crate) fn read(
    buffer: &[u8],
    ended: bool,
    known: &mut KnownHead,
) -> Result<Option<Answer>, Fault> {
    let answer = match head_of(buffer, known)? {
        None => None,
        Some(head) => body_of(buffer, head, ended)?,
    };
    match answer {
        Some(answer) => Ok(Some(answer)),
        None if ended && buffer.is_empty() => Err(Fault::NoAnswer),
        None if ended => Err(Fault::Half { got: buffer.len() }),
        None if buffer.len() > ANSWER_MAX => Err(Fault::TooLong { most: ANSWER_MAX }),
        None => Ok(None),
    }
}

fn head_of(buffer: &[u8], known: &mut KnownHead) -> Result<Option<Head>, Fault> {
    if let Some(head) = known.head
        && buffer.starts_with(&known.bytes)
    {
        return Ok(Some(head));
    }
    let Some(mut head) = final_head(buffer)? else {
        return Ok(None);
    };
    if known.without_body {
        head.framing = Framing::Length(0);
    }
    // A head of one second is that of the next ones; a new date is read once.
    known.bytes.clear();
    known.bytes.extend_from_slice(&buffer[..head.size]);
    known.head = Some(head);
    Ok(Some(head))
}

/// Returns the head of the final answer. Interim answers before it are skipped, requested or not
/// (RFC 9110, section 15.2).
fn final_head(buffer: &[u8]) -> Result<Option<Head>, Fault> {
    let mut begins = 0;
    loop {
        let rest = &buffer[begins..];
        let not_http = |why| Fault::NotHttp {
            why,
            head: head(rest),
        };
        match first_head(rest).map_err(not_http)? {
            Some(interim) if interim.is_interim() => begins += interim.size,
            Some(head) => {
                let size = begins + head.size;
                return Ok(Some(Head { size, ..head }));
            }
            None if buffer.len() > HEAD_MAX => {
                let why = format!("its head is longer than {HEAD_MAX} bytes");
                return Err(not_http(why));
            }
            None => return Ok(None),
        }
    }
}

/// Returns the head at the beginning of these bytes; `None` while it is not whole.
fn first_head(bytes: &[u8]) -> Result<Option<Head>, String> {
    // These lines are not cleared for each head; only received ones are written.
    let mut lines = [const { MaybeUninit::uninit() }; LINES_MAX];
    let mut response = httparse::Response::new(&mut []);
    let parser = httparse::ParserConfig::default();
    match parser.parse_response_with_uninit_headers(&mut response, bytes, &mut lines) {
        Err(httparse::Error::TooManyHeaders) => {
            Err(format!("its head has more than {LINES_MAX} lines"))
        }
        Err(why) => Err(why.to_string()),
        Ok(httparse::Status::Partial) => Ok(None),
        Ok(httparse::Status::Complete(size)) => meaning(&response, size).map(Some),
    }
}

/// Interprets a head by RFC 9112, sections 6.3 (length of a body) and 9.3 (use of the connection
/// after it).
fn meaning(response: &httparse::Response<'_, '_>, size: usize) -> Result<Head, String> {
    let status = response.code.unwrap_or_default();
    let mut keeps = response.version == Some(1);
    let mut length: Option<usize> = None;
    let mut is_chunked = false;
    for line in response.headers.iter() {
        let value = line.value.trim_ascii();
        if line.name.eq_ignore_ascii_case("content-length") {
            let text = std::str::from_utf8(value).unwrap_or_default();
            let digits = text.bytes().all(|byte| byte.is_ascii_digit());
            let number = text.parse().ok().filter(|_| digits);
            let number =
                number.ok_or_else(|| format!("its Content-Length is `{}`", head(value)))?;
            if length.is_some_and(|before| before != number) {
                return Err("it has two lengths".to_owned());
            }
            length = Some(number);
        } else if line.name.eq_ignore_ascii_case("transfer-encoding") {
            is_chunked = value.eq_ignore_ascii_case(b"chunked");
            if !is_chunked {
                return Err(format!("its Transfer-Encoding is `{}`", head(value)));
            }
        } else if line.name.eq_ignore_ascii_case("connection") {
            let has = |word: &[u8]| {
                value
                    .split(|byte| *byte == b',')
                    .any(|part| part.trim_ascii().eq_ignore_ascii_case(word))
            };
            keeps = (keeps || has(b"keep-alive")) && !has(b"close");
        }
    }
    let framing = match (status, is_chunked, length) {
        // It would end HTTP on this connection. The other interim answers only say that one is
        // still to come.
        (101, ..) => return Err("status 101 without being asked for".to_owned()),
        (100..200 | 204 | 304, ..) => Framing::Length(0),
        (_, true, _) => Framing::Chunked,
        (_, false, Some(length)) => Framing::Length(length),
        (_, false, None) => Framing::UntilClosed,
    };
    Ok(Head {
        status,
        size,
        framing,
        keeps,
    })
}

fn body_of(buffer: &[u8], head: Head, ended: bool) -> Result<Option<Answer>, Fault> {
    let plain = |size| Answer {
        head,
        size,
        chunks: None,
    };
    match head.framing {
        Framing::Length(length) => {
            let size = head.size.saturating_add(length);
            if size > ANSWER_MAX {
                return Err(Fault::TooLong { most: ANSWER_MAX });
            }
            Ok((buffer.len() >= size).then(|| plain(size)))
        }
        Framing::UntilClosed => Ok(ended.then(|| plain(buffer.len()))),
        Framing::Chunked => chunked(buffer, head),
    }
}

/// Reads a chunked body (RFC 9112, section 7.1). The bytes are read from their beginning each time,
/// so a body of many pieces is read many times; measured bodies are short.
fn chunked(buffer: &[u8], head: Head) -> Result<Option<Answer>, Fault> {
    let mut body = Vec::new();
    let mut at = head.size;
    loop {
        let rest = buffer.get(at..).unwrap_or_default();
        match httparse::parse_chunk_size(rest) {
            Err(_) => {
                return Err(Fault::NotHttp {
                    why: "the size of a chunk".to_owned(),
                    head: crate::fault::head(rest),
                });
            }
            Ok(httparse::Status::Partial) => return Ok(None),
            Ok(httparse::Status::Complete((line, 0))) => {
                let trailer = &rest[line..];
                return Ok(end_of_trailer(trailer).map(|end| Answer {
                    head,
                    size: at + line + end,
                    chunks: Some(body),
                }));
            }
            Ok(httparse::Status::Complete((line, length))) => {
                let length = usize::try_from(length).unwrap_or(usize::MAX);
                if length > ANSWER_MAX {
                    return Err(Fault::TooLong { most: ANSWER_MAX });
                }
                let Some(chunk) = rest.get(line..line + length + 2) else {
                    return Ok(None);
                };
                if !chunk.ends_with(b"\r\n") {
                    return Err(Fault::NotHttp {
                        why: "a chunk does not end where it should".to_owned(),
                        head: crate::fault::head(chunk),
                    });
                }
                body.extend_from_slice(&chunk[..length]);
                at += line + length + 2;
            }
        }
    }
}

/// Returns the end of the trailer: the first empty line.
fn end_of_trailer(trailer: &[u8]) -> Option<usize> {
    if trailer.starts_with(b"\r\n") {
        return Some(2);
    }
    let end = trailer.windows(4).position(|four| four == b"\r\n\r\n")?;
    Some(end + 4)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn whole(text: &str, ended: bool) -> Result<Option<(u16, Vec<u8>, bool)>, Fault> {
        let answer = read(text.as_bytes(), ended, &mut KnownHead::default())?;
        Ok(answer.map(|answer| {
            assert_eq!(answer.size, text.len());
            (
                answer.head.status,
                answer.body(text.as_bytes()).to_vec(),
                answer.head.stays(),
            )
        }))
    }

    #[test]
    fn bodies_of_each_framing_are_read() {
        let of = |text, ended| whole(text, ended).unwrap().unwrap();
        assert_eq!(
            of("HTTP/1.1 200 OK\r\ncontent-LENGTH: 2\r\n\r\nab", false),
            (200, b"ab".to_vec(), true)
        );
        assert_eq!(
            of("HTTP/1.0 200 OK\r\nContent-Length: 0\r\n\r\n", false),
            (200, vec![], false)
        );
        assert_eq!(
            of(
                "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nab\r\n1\r\nc\r\n0\r\nX: y\r\n\r\n",
                false
            ),
            (200, b"abc".to_vec(), true)
        );
        assert_eq!(
            of(
                "HTTP/1.1 200 OK\r\nConnection: x, Close\r\nContent-Length: 1\r\n\r\na",
                false
            ),
            (200, b"a".to_vec(), false)
        );
        assert_eq!(
            of("HTTP/1.1 404 No\r\n\r\nabc", true),
            (404, b"abc".to_vec(), false)
        );
        assert_eq!(of("HTTP/1.1 204 No\r\n\r\n", false), (204, vec![], true));
    }

    #[test]
    fn an_answer_that_is_not_whole_is_waited_for_at_every_byte() {
        let texts = [
            "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nabcde",
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nabcde\r\n0\r\n\r\n",
            "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\na",
        ];
        for text in texts {
            for size in 0..text.len() {
                assert_eq!(whole(&text[..size], false), Ok(None), "{size}");
                assert!(matches!(
                    whole(&text[..size], true),
                    Err(Fault::Half { .. } | Fault::NoAnswer)
                ));
            }
        }
    }

    /// Returns an answer of 200 with this body.
    fn answer(body: &str) -> String {
        let length = body.len();
        format!("HTTP/1.1 200 OK\r\nContent-Length: {length}\r\n\r\n{body}")
    }

    #[test]
    fn interim_answers_are_passed_over_wherever_they_are_split() {
        let hints = "HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n";
        let go_on = "HTTP/1.1 100 Continue\r\n\r\n";
        // Knowledge from the answer before is no answer to the next one.
        let mut known = KnownHead::default();
        for before in ["", hints, go_on, "", &format!("{go_on}{hints}{hints}")] {
            let text = format!("{before}{}", answer("ab"));
            let bytes = text.as_bytes();
            for size in 0..text.len() {
                assert!(read(&bytes[..size], false, &mut known).unwrap().is_none());
            }
            // More may come after it in the same piece.
            let more = format!("{text}{hints}");
            let answer = read(more.as_bytes(), false, &mut known).unwrap().unwrap();
            assert_eq!((answer.head.status, answer.size), (200, text.len()));
            assert_eq!(answer.body(more.as_bytes()), b"ab");
        }
    }

    #[test]
    fn interim_answers_without_end_are_refused() {
        let endless = "HTTP/1.1 102 Processing\r\n\r\n".repeat(HEAD_MAX / 20);
        let refused = whole(&endless, false).unwrap_err().to_string();
        assert!(refused.contains("longer than 65536 bytes"), "{refused}");
    }

    #[test]
    fn many_lines_are_read_and_too_many_are_named() {
        let of = |lines: usize| {
            let lines = "X: y\r\n".repeat(lines);
            answer("ab").replace("Content", &format!("{lines}Content"))
        };
        for lines in [121, LINES_MAX - 1] {
            let read = whole(&of(lines), false).unwrap().unwrap();
            assert_eq!(read, (200, b"ab".to_vec(), true));
        }
        let refused = whole(&of(LINES_MAX), false).unwrap_err().to_string();
        assert!(refused.contains("more than 1024 lines"), "{refused}");
    }

    #[test]
    fn a_head_that_is_known_means_what_it_meant() {
        let mut known = KnownHead::default();
        for (text, size) in [
            ("HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\na", 1),
            ("HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\nb", 1),
            ("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nab", 2),
        ] {
            let answer = read(text.as_bytes(), false, &mut known).unwrap().unwrap();
            assert_eq!(answer.body(text.as_bytes()).len(), size);
        }
    }

    #[test]
    fn what_is_not_http_is_named() {
        let wrong = [
            "SSH-2.0-OpenSSH_9.2\r\n",
            "HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n",
            "HTTP/1.1 200 OK\r\nContent-Length: +1\r\n\r\na",
            "HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab",
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip\r\n\r\n",
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nabc\r\n",
            "HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\n\r\n",
            "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\n\r\n",
            "HTTP/1.1 103 Early Hints\r\n\r\nSSH-2.0-OpenSSH_9.2\r\n",
        ];
        for text in wrong {
            assert!(
                matches!(whole(text, false), Err(Fault::NotHttp { .. })),
                "{text}"
            );
        }
        let long = "HTTP/1.1 200 OK\r\nContent-Length: 99999999999\r\n\r\n";
        assert!(matches!(whole(long, false), Err(Fault::TooLong { .. })));
        let long = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nffffffffffffffff\r\n";
        assert!(matches!(whole(long, false), Err(Fault::TooLong { .. })));
    }
}
