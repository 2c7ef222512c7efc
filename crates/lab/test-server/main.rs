//! A server for the laboratory's own tests: `antiphon-test-server PORT CONDUCT FOLDER`. It answers
//! or misbehaves as told.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::process::exit;
use std::sync::atomic::{AtomicU64, Ordering};

/// Requests that were answered on all connections.
static ANSWERED: AtomicU64 = AtomicU64::new(0);

/// A server that misbehaves does so after as many answers.
const WELL: u64 = 2000;

fn main() {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let [port, conduct, folder] = &words[..] else {
        eprintln!("usage: antiphon-test-server PORT CONDUCT FOLDER");
        exit(2);
    };
    match conduct.as_str() {
        "refuses" => {
            eprintln!("no licence");
            exit(3);
        }
        // The second one that is started in a folder.
        "alone" if std::fs::create_dir(format!("{folder}/taken")).is_err() => {
            eprintln!("there is one already");
            exit(4);
        }
        // The child is a separate process, which must not outlive the round.
        "child" => {
            let mut child = std::process::Command::new("sleep");
            let mut child = child.arg("600").spawn().expect("a child");
            std::thread::spawn(move || child.wait());
        }
        _ => {}
    }
    let listener =
        TcpListener::bind(("127.0.0.1", port.parse().expect("a port"))).expect("the port");
    for stream in listener.incoming().flatten() {
        let conduct = conduct.clone();
        std::thread::spawn(move || serve(stream, &conduct));
    }
}

/// Answers requests, which come whole and one at a time, until the connection ends.
fn serve(mut stream: TcpStream, conduct: &str) {
    let mut piece = [0; 2048];
    let _ = stream.set_nodelay(true);
    while let Ok(size) = stream.read(&mut piece) {
        if size == 0 {
            return;
        }
        let closes = String::from_utf8_lossy(&piece[..size]).contains("Connection: close");
        let answered = ANSWERED.fetch_add(1, Ordering::Relaxed);
        let many = answered >= WELL;
        let body = match conduct {
            "other" => "goodbye",
            "late" if answered < 3 => "starting",
            "changes" if many => "howdy",
            "dies" if many => {
                eprintln!("out of something");
                exit(9);
            }
            _ => "hello",
        };
        let answer = format!(
            "HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n{body}",
            body.len()
        );
        if stream.write_all(answer.as_bytes()).is_err() || closes {
            return;
        }
    }
}
