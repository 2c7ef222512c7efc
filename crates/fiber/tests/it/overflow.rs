//! A stack overflow names the fiber and aborts. It needs a process of its own: this test's program
//! runs itself again.

use std::hint::black_box;
use std::os::unix::process::ExitStatusExt;
use std::process::Command;

use antiphon_fiber::{Builder, OneServer, Overflow, Run};

const ASKED: &str = "ANTIPHON_FIBER_OVERFLOWS";

#[expect(unconditional_recursion, reason = "that is the point")]
fn deeper(depth: u64) -> u64 {
    let room = black_box([depth; 32]);
    room[0] + deeper(depth + 1) + room[31]
}

fn on_overflow(overflow: &Overflow) {
    let text: &[u8] = if overflow.instruction != 0 && overflow.name == Some("diver") {
        b"the handler knows the place\n"
    } else {
        b"the handler knows nothing\n"
    };
    // SAFETY: a plain write.
    unsafe { libc::write(2, text.as_ptr().cast(), text.len()) };
}

#[test]
fn an_overflow_names_the_fiber_and_aborts() {
    if std::env::var_os(ASKED).is_some() {
        let run = Run::one().on_overflow(on_overflow).start(|| {
            let builder = Builder {
                name: Some("diver".into()),
                ..Builder::default()
            };
            OneServer::spawn(builder, || deeper(0))
                .unwrap()
                .join()
                .unwrap()
        });
        unreachable!("the process aborts: {:?}", run.is_ok());
    }
    let output = Command::new(std::env::current_exe().unwrap())
        .args([
            "--exact",
            "overflow::an_overflow_names_the_fiber_and_aborts",
            "--nocapture",
        ])
        .env(ASKED, "yes")
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(
        said.contains("fiber diver overflowed its stack of 65536 bytes"),
        "{said}"
    );
    assert!(said.contains("the handler knows the place"), "{said}");
    assert_eq!(output.status.signal(), Some(libc::SIGABRT));
}
