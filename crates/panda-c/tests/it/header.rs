//! The header consists of the comments of the source. (The programs of the other tests show that it
//! compiles as C and as C++.)
//!
//! `PANDA_WRITE_HEADER=1 cargo test -p antiphon-panda-c header` writes it again.

use std::fs;
use std::path::Path;

use cbindgen::{Builder, Config, DocumentationStyle, Language, Style};

const BEGIN: &str = "\
/* Panda: messages, calls, groups, collective operations and threads for run-time systems, over platforms that are chosen when a program is started.
 *
 * A program is started as N processes, for instance by `antiphon launch -n 4 --over tcp ./program`; each joins the session and gets a rank. It is compiled and linked with
 *     cc program.c $(pkg-config --cflags --libs panda)
 * What a session is and does is in docs/reference/panda.md; here is what each function does. This file is made from the library's source.
 *
 * Statuses. A function that can fail returns a panda_status. What it says in words is panda_last_error(), whom it names panda_last_rank(). Out parameters are written if it is PANDA_OK, and
 * are as they were else. NULL where something is needed is PANDA_BAD_ARGUMENT; a function that returns no status gives 0, NULL or PANDA_ANY then.
 *
 * Ownership. What a function gives is the caller's, who gives it back by the function that says `free` or `end` of its kind; handles of ports, groups, communicators and replies may be given back after
 * their session. A function that takes a message takes it whatever it returns (but see panda_comm_scatter()). Upcalls are lent what they get.
 *
 * Upcalls are given with a context and a function that lets go of it. They run on a thread that drives the session, so they must not wait for messages: what waits returns PANDA_IN_UPCALL there. No
 * exception of C++ and no panda_thread_exit() may leave an upcall, or another function that the library was given and that is not the body of a thread: it ends the process.
 *
 * Threads. Handles may be used by all threads at once, messages by one at a time. Nobody may use what another gives back. Ranks are below the session's population, times are in nanoseconds,
 * strings are in UTF-8. A process that forks uses its session in the parent alone. */
#ifndef ANTIPHON_PANDA_H
#define ANTIPHON_PANDA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/uio.h>

#if defined(__GNUC__)
#define PANDA_NORETURN __attribute__((noreturn))
#else
#define PANDA_NORETURN
#endif

#ifdef __cplusplus
extern \"C\" {
#endif
";

const END: &str = "
#ifdef __cplusplus
}
#endif

#endif
";

/// The topics of the header, in order, and their source files.
const TOPICS: [(&str, &[&str]); 9] = [
    ("statuses", &["status.rs", "given.rs"]),
    ("messages", &["message.rs"]),
    (
        "sessions",
        &["session.rs", "spawn.rs", "program.rs", "launch_info.rs"],
    ),
    ("ports", &["port.rs"]),
    ("calls", &["rpc.rs"]),
    ("groups", &["group.rs"]),
    ("collective operations", &["communicator.rs", "numbers.rs"]),
    ("quiescence and clocks", &["quiescence.rs"]),
    ("threads", &["thread.rs", "sync.rs"]),
];

fn topic(files: &[&str]) -> String {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut config = Config {
        language: Language::C,
        style: Style::Type,
        documentation_style: DocumentationStyle::Doxy,
        no_includes: true,
        usize_is_size_t: true,
        line_length: 180,
        tab_width: 4,
        ..Config::default()
    };
    config.function.no_return = Some("PANDA_NORETURN".into());
    // Types that only other topics use.
    config.export.include = ["panda_status", "panda_release"].map(String::from).into();
    config.export.rename = [("iovec".to_string(), "struct iovec".to_string())].into();
    let builder = Builder::new().with_config(config);
    let builder = files
        .iter()
        .fold(builder, |builder, file| builder.with_src(root.join(file)));
    let mut text = Vec::new();
    builder
        .generate()
        .expect("the source is read")
        .write(&mut text);
    let text = String::from_utf8(text).expect("text");
    // For C a handle is mutable, although Rust shares it between threads.
    let handles = [
        "session",
        "spawned",
        "launch_info",
        "port",
        "group",
        "quiescence",
        "verdict",
        "comm",
        "thread",
        "mutex",
        "condition",
        "semaphore",
        "barrier",
    ];
    handles.iter().fold(text, |text, handle| {
        let is = format!("panda_{handle} *");
        text.replace(&format!("const {is}"), &is)
    })
}

fn header() -> String {
    let mut header = BEGIN.to_string();
    for (name, files) in TOPICS {
        let line = "-".repeat(100 - name.len());
        header.push_str(&format!("\n/* ---- {name} {line} */\n\n"));
        header.push_str(topic(files).trim());
        header.push('\n');
    }
    header.push_str(END);
    header
}

#[test]
fn the_header_is_what_the_source_says() {
    let place = Path::new(env!("CARGO_MANIFEST_DIR")).join("include/panda.h");
    let header = header();
    if std::env::var_os("PANDA_WRITE_HEADER").is_some() {
        fs::write(&place, &header).expect("written");
    }
    let committed = fs::read_to_string(&place).unwrap_or_default();
    assert!(
        committed == header,
        "include/panda.h is not what the comments of src/ say: PANDA_WRITE_HEADER=1 cargo test -p antiphon-panda-c header"
    );
}
