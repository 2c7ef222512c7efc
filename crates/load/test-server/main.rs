//! A server for the tests: it answers, or misbehaves as its first argument says, and prints its
//! port.
//!
//! Each connection has a separate thread. The server ends when its standard input does.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::RwLock;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

const BODY: &str = "{\"greeting\":\"Hello World!\"}";

/// Interim answers before the final one (RFC 9110, section 15.2).
const INTERIM: &str =
    "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: </style.css>\r\n\r\n";

fn main() {
    let conduct = std::env::args().nth(1).unwrap_or_else(|| "well".to_owned());
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port of loopback");
    let port = listener.local_addr().expect("its address").port();
    println!("{port}");
    std::thread::spawn(move || {
        for (number, stream) in listener.incoming().enumerate() {
            let (Ok(stream), conduct) = (stream, conduct.clone()) else {
                continue;
            };
            std::thread::spawn(move || serve(stream, &conduct, number));
        }
    });
    let _ = std::io::stdin().read_to_end(&mut Vec::new());
}

/// Answers the requests of a connection until it ends. `number` counts connections; the first one
/// is the first exchange.
fn serve(mut stream: TcpStream, conduct: &str, number: usize) {
    let _ = stream.set_nodelay(true);
    let mut pending = Vec::new();
    let mut answered = 0;
    while let Some(closes) = request(&mut stream, &mut pending) {
        // Misconduct begins after the first exchange and some right answers on a connection.
        let behaves = number == 0 || answered < 3;
        let misconduct = if behaves && !conduct.ends_with("-at-once") {
            "well"
        } else {
            conduct
        };
        if !answer(
            &mut stream,
            misconduct.trim_end_matches("-at-once"),
            number,
            closes,
        ) {
            return;
        }
        if closes {
            return;
        }
        answered += 1;
    }
}

/// Reads a request; whether it asks to close. `None` at the end.
fn request(stream: &mut TcpStream, pending: &mut Vec<u8>) -> Option<bool> {
    let mut piece = [0; 1024];
    loop {
        if let Some(end) = pending.windows(4).position(|four| four == b"\r\n\r\n") {
            let head: Vec<u8> = pending.drain(..end + 4).collect();
            return Some(
                String::from_utf8_lossy(&head)
                    .to_lowercase()
                    .contains("connection: close"),
            );
        }
        match stream.read(&mut piece) {
            Ok(size) if size > 0 => pending.extend_from_slice(&piece[..size]),
            _ => return None,
        }
    }
}

/// Answers one request; whether the connection goes on.
fn answer(stream: &mut TcpStream, conduct: &str, number: usize, closes: bool) -> bool {
    let connection = if closes { "Connection: close\r\n" } else { "" };
    let length = BODY.len();
    let well = format!("HTTP/1.1 200 OK\r\nContent-Length: {length}\r\n{connection}\r\n{BODY}");
    let mut say = |text: &str| stream.write_all(text.as_bytes()).is_ok();
    match conduct {
        "well" => say(&well),
        "chunked" => say(&format!(
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n{length:x}\r\n{BODY}\r\n0\r\n\r\n"
        )),
        // In pieces that end amid the heads, and in one.
        "interim" if number.is_multiple_of(2) => format!("{INTERIM}{well}")
            .as_bytes()
            .chunks(7)
            .all(|piece| stream.write_all(piece).is_ok()),
        "interim" => say(&format!("{INTERIM}{well}")),
        "lines" => say(&well.replace("\r\n\r\n", &format!("\r\n{}\r\n", "X: y\r\n".repeat(120)))),
        "bytewise" => well.bytes().all(|byte| stream.write_all(&[byte]).is_ok()),
        "polite-close" => {
            say(&well.replace("\r\n\r\n", "\r\nConnection: close\r\n\r\n"));
            false
        }
        "no-length" => {
            say(&format!("HTTP/1.1 200 OK\r\n\r\n{BODY}"));
            false
        }
        "starve" if number > 1 && number.is_multiple_of(2) => {
            std::thread::sleep(Duration::from_secs(600));
            false
        }
        "starve" => say(&well),
        "stand-still-once" => {
            stand_still_once();
            say(&well)
        }
        "never" => {
            std::thread::sleep(Duration::from_secs(600));
            false
        }
        "half" => {
            say(&well[..well.len() - 9]);
            false
        }
        "short" => say(&well
            .replace(&length.to_string(), "9")
            .replace(BODY, "{\"a\":\"b\"}")),
        "other-body" => say(&well.replace("World", "Wyrld")),
        "more" => say(&format!("{well}more")),
        "error" => say(&well.replace("200 OK", "503 Busy")),
        "close" => false,
        "reset" => {
            linger_nothing(stream);
            false
        }
        "garbage" => say("SSH-2.0-OpenSSH_9.2p1\r\n\r\n"),
        "endless-head" => {
            let _ = stream.write_all(b"HTTP/1.1 200 OK\r\n");
            while stream.write_all(&[b'x'; 4096]).is_ok() {}
            false
        }
        other => panic!("`{other}` is no conduct"),
    }
}

/// Stops all answers for 300 ms before the 200th one. (Stopped by a signal from without, it might
/// stand still before the load begins, or after its end.)
fn stand_still_once() {
    static BEFORE: AtomicUsize = AtomicUsize::new(0);
    static STANDS: RwLock<()> = RwLock::new(());
    if BEFORE.fetch_add(1, Ordering::Relaxed) == 200 {
        let _stands = STANDS.write();
        std::thread::sleep(Duration::from_millis(300));
    } else {
        drop(STANDS.read());
    }
}

/// Sets the linger time to 0, so that closing the stream resets the connection.
fn linger_nothing(stream: &TcpStream) {
    let linger = rustix::net::sockopt::set_socket_linger(stream, Some(Duration::ZERO));
    linger.expect("a socket that lingers for no time");
}
