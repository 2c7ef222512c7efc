//! The header consists of the comments of the source. (The programs of the other tests show that it
//! compiles as C and as C++.)
//!
//! `PANDA_WRITE_HEADER=1 cargo test -p antiphon-panda-c header` writes it again.

use std::fs;
use std::path::Path;

use cbindgen::{Builder, Config, DocumentationStyle, Language, Style};

const BEGIN: &str = "\
/* Panda: messages, calls, groups, collective operations and threads for run-time systems, over
 * platforms that are chosen when a program is started.
 *
 * A program is started as N processes, for instance by `antiphon launch -n 4 --over tcp ./program`.
 * Each process joins the session and gets a rank. A program is compiled and linked with
 *     cc program.c $(pkg-config --cflags --libs panda)
 * docs/reference/panda.md describes sessions. This file describes each function. It is made from
 * the library's source.
 *
 * Statuses. A function that can fail returns a panda_status. panda_last_error() has its words, and
 * panda_last_rank() the rank that it names. Out parameters are written only with PANDA_OK. NULL for
 * a required argument is PANDA_BAD_ARGUMENT. A function without a status then returns 0, NULL or
 * PANDA_ANY.
 *
 * Ownership. The caller owns each result, and gives it back by the function `free` or `end` of its
 * kind. Handles of ports, groups, communicators and replies may be given back after their session.
 * A function that takes a message takes it whatever it returns (but see panda_comm_scatter()).
 * Arguments of upcalls are lent.
 *
 * Upcalls are given with a context and a function that releases it. They run on a thread that
 * drives the session, so they must not wait for messages: functions that wait return
 * PANDA_IN_UPCALL there. An exception of C++ or panda_thread_exit() that leaves an upcall ends the
 * process. So it is with every function that the library is given, except the body of a thread.
 *
 * Threads. All threads may use a handle at once. One thread at a time may use a message. No thread
 * may use an object that another thread gives back. Ranks are below the session's population.
 * Times are in nanoseconds, strings in UTF-8. A process that forks uses its session in the parent
 * alone. */
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
