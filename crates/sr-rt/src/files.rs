//! Files: buffers above the system's descriptors. A process that reads waits without its server; who writes keeps it.

use std::ffi::CString;

use parking_lot::Mutex;

use crate::errors::abort;
use crate::flavour;
use crate::layout::{At, Text};

/// Values of `sr_file` that are no files; others are places in the table, above these.
const NULL: usize = 0;
const NOOP: usize = 1;
const FIRST: usize = 2;
const STANDARD_OUTPUT: usize = 1;
const STANDARD_ERROR: usize = 2;

/// Bytes that are read or written at once.
const BUFFER_BYTES: usize = 64 << 10;

/// An open file, or what is left of a closed one.
struct Object {
    descriptor: i32,
    /// Read, and not yet taken from `taken` on.
    input: Vec<u8>,
    taken: usize,
    output: Vec<u8>,
    is_open: bool,
    /// Written out with each line: somebody looks.
    is_terminal: bool,
    /// Written out at once.
    is_direct: bool,
}

static FILES: Mutex<Vec<Object>> = Mutex::new(Vec::new());

fn object(descriptor: i32) -> Object {
    Object {
        descriptor,
        input: Vec::new(),
        taken: 0,
        output: Vec::new(),
        is_open: true,
        // SAFETY: a plain question.
        is_terminal: unsafe { libc::isatty(descriptor) } == 1,
        is_direct: false,
    }
}

fn with_table<T>(look: impl FnOnce(&mut Vec<Object>) -> T) -> T {
    let mut files = FILES.lock();
    if files.is_empty() {
        files.extend((0..3).map(object));
        files[STANDARD_ERROR].is_direct = true;
    }
    look(&mut files)
}

/// Does something with an open file; aborts on a null or closed one, none for noop.
fn with<T>(at: At, file: usize, look: impl FnOnce(&mut Object) -> T) -> Option<T> {
    match file {
        NULL => abort(at, "operation attempted on null file"),
        NOOP => return None,
        _ => {}
    }
    let result = with_table(|files| match files.get_mut(file - FIRST) {
        Some(object) if object.is_open => Some(look(object)),
        _ => None,
    });
    match result {
        Some(value) => Some(value),
        None => abort(at, "file not open"),
    }
}

fn last_error() -> std::io::Error {
    std::io::Error::last_os_error()
}

fn failed(at: At, doing: &str, error: &std::io::Error) -> ! {
    abort(at, &format!("I/O error: {doing}: {error}"))
}

impl Object {
    /// Writes out what is buffered.
    fn write_out(&mut self) -> std::io::Result<()> {
        let output = std::mem::take(&mut self.output);
        let mut rest = &output[..];
        while !rest.is_empty() {
            // SAFETY: writes a slice.
            let written = unsafe { libc::write(self.descriptor, rest.as_ptr().cast(), rest.len()) };
            if written < 0 {
                let error = last_error();
                match error.kind() {
                    std::io::ErrorKind::Interrupted => continue,
                    // The descriptor is shared with somebody who set it so.
                    std::io::ErrorKind::WouldBlock => {
                        wait_for(self.descriptor, libc::POLLOUT, -1);
                        continue;
                    }
                    _ => return Err(error),
                }
            }
            rest = &rest[written as usize..];
        }
        self.output = output;
        self.output.clear();
        Ok(())
    }

    /// Forgets what was read ahead: the system's position is the program's again.
    fn forget_input(&mut self) {
        let ahead = self.input.len() - self.taken;
        if ahead > 0 {
            // SAFETY: a plain call; what cannot be sought stays as it is.
            unsafe { libc::lseek(self.descriptor, -(ahead as libc::off_t), libc::SEEK_CUR) };
        }
        self.input.clear();
        self.taken = 0;
    }
}

fn wait_for(descriptor: i32, events: i16, timeout_ms: i32) -> bool {
    let mut poll = libc::pollfd {
        fd: descriptor,
        events,
        revents: 0,
    };
    // SAFETY: one entry.
    unsafe { libc::poll(&mut poll, 1, timeout_ms) != 0 }
}

/// Appends to a file's output.
pub fn output(at: At, file: usize, write: impl FnOnce(&mut Vec<u8>)) {
    if file == STANDARD_ERROR + FIRST {
        flush_standard_output();
    }
    let result = with(at, file, |object| {
        if object.taken < object.input.len() {
            object.forget_input();
        }
        let before = object.output.len();
        write(&mut object.output);
        let is_line = object.is_terminal && object.output[before..].contains(&b'\n');
        if object.is_direct || is_line || object.output.len() >= BUFFER_BYTES {
            object.write_out()
        } else {
            Ok(())
        }
    });
    if let Some(Err(error)) = result {
        failed(at, "write", &error);
    }
}

/// Writes out what the program wrote to standard output. Called where errors are told: it has none itself.
pub fn flush_standard_output() {
    with_table(|files| {
        let _ = files[STANDARD_OUTPUT].write_out();
    });
}

/// Writes out all files, at the end.
pub fn flush_all() {
    with_table(|files| {
        for object in files.iter_mut().filter(|o| o.is_open) {
            if let Err(error) = object.write_out() {
                let text = format!("RTS warning: output was lost: {error}\n");
                // SAFETY: writes a slice.
                unsafe { libc::write(2, text.as_ptr().cast(), text.len()) };
            }
        }
    });
}

/// What reading found in the buffer.
enum Input {
    Byte(u8),
    /// The buffer is empty: its descriptor has to be read.
    Empty(i32),
}

/// The next character of a file, which stays there; none at its end. Other processes go on while there is none yet.
pub fn peek(at: At, file: usize) -> Option<u8> {
    loop {
        let found = with(at, file, |object| match object.input.get(object.taken) {
            Some(&byte) => Input::Byte(byte),
            None => Input::Empty(object.descriptor),
        })?;
        match found {
            Input::Byte(byte) => return Some(byte),
            Input::Empty(descriptor) => {
                if !fill(at, file, descriptor) {
                    return None;
                }
            }
        }
    }
}

/// Takes the character that [`peek`] gave.
pub fn advance(at: At, file: usize) {
    with(at, file, |object| object.taken += 1);
}

/// Takes characters that are in the buffer, as many as are wanted at most.
pub fn take(at: At, file: usize, wanted: usize, mut to: impl FnMut(&[u8])) -> usize {
    let taken = with(at, file, |object| {
        let ready = &object.input[object.taken.min(object.input.len())..];
        let ready = &ready[..ready.len().min(wanted)];
        to(ready);
        object.taken += ready.len();
        ready.len()
    });
    taken.unwrap_or(0)
}

/// Reads more; whether there was something.
fn fill(at: At, file: usize, descriptor: i32) -> bool {
    flush_standard_output();
    let _ = with(at, file, Object::write_out);
    let read = move || {
        let mut buffer = vec![0_u8; BUFFER_BYTES];
        loop {
            // SAFETY: reads into a buffer of that size.
            let got = unsafe { libc::read(descriptor, buffer.as_mut_ptr().cast(), BUFFER_BYTES) };
            if got >= 0 {
                buffer.truncate(got as usize);
                return Ok(buffer);
            }
            let error = last_error();
            match error.kind() {
                std::io::ErrorKind::Interrupted => {}
                std::io::ErrorKind::WouldBlock => {
                    wait_for(descriptor, libc::POLLIN, -1);
                }
                _ => return Err(error),
            }
        }
    };
    // A file of the disk, or something that is there already, is read at once; a thread waits for the rest.
    let is_ready = wait_for(descriptor, libc::POLLIN, 0);
    let result = if is_ready {
        read()
    } else {
        flavour::blocking(read)
    };
    match result {
        Ok(bytes) if bytes.is_empty() => false,
        Ok(bytes) => {
            with(at, file, |object| {
                object.input.drain(..object.taken);
                object.taken = 0;
                object.input.extend_from_slice(&bytes);
            });
            true
        }
        Err(error) => failed(at, "read", &error),
    }
}

// SAFETY of the functions below: texts are the contract's.

unsafe fn path(name: Text) -> Option<CString> {
    CString::new(unsafe { name.bytes() }).ok()
}

#[unsafe(no_mangle)]
unsafe extern "C" fn sr_open(name: Text, mode: i32) -> usize {
    let _busy = flavour::busy();
    let Some(path) = (unsafe { path(name) }) else {
        return NULL;
    };
    let flags = match mode {
        0 => libc::O_RDONLY,
        1 => libc::O_WRONLY | libc::O_CREAT | libc::O_TRUNC,
        _ => libc::O_RDWR,
    };
    // SAFETY: a path that ends with a zero.
    let descriptor = unsafe { libc::open(path.as_ptr(), flags | libc::O_CLOEXEC, 0o666) };
    if descriptor < 0 {
        return NULL;
    }
    with_table(|files| {
        files.push(object(descriptor));
        files.len() - 1 + FIRST
    })
}

#[unsafe(no_mangle)]
extern "C" fn sr_flush(at: At, file: usize) {
    let _busy = flavour::busy();
    if let Some(Err(error)) = with(at, file, Object::write_out) {
        failed(at, "flush", &error);
    }
}

#[unsafe(no_mangle)]
extern "C" fn sr_close(at: At, file: usize) {
    let _busy = flavour::busy();
    let result = with(at, file, |object| {
        let result = object.write_out();
        object.is_open = false;
        (object.input, object.output) = (Vec::new(), Vec::new());
        // SAFETY: its own descriptor, once.
        unsafe { libc::close(object.descriptor) };
        result
    });
    if let Some(Err(error)) = result {
        failed(at, "close", &error);
    }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn sr_remove(name: Text) -> bool {
    let _busy = flavour::busy();
    // SAFETY: a path that ends with a zero.
    unsafe { path(name) }.is_some_and(|path| unsafe { libc::unlink(path.as_ptr()) } == 0)
}

#[unsafe(no_mangle)]
extern "C" fn sr_seek(at: At, file: usize, from: i32, offset: i32) -> i32 {
    let _busy = flavour::busy();
    let whence = match from {
        0 => libc::SEEK_SET,
        1 => libc::SEEK_CUR,
        _ => libc::SEEK_END,
    };
    position(at, file, |descriptor| {
        // SAFETY: a plain call.
        unsafe { libc::lseek(descriptor, libc::off_t::from(offset), whence) }
    })
}

#[unsafe(no_mangle)]
extern "C" fn sr_where(at: At, file: usize) -> i32 {
    let _busy = flavour::busy();
    position(at, file, |descriptor| {
        // SAFETY: a plain call.
        unsafe { libc::lseek(descriptor, 0, libc::SEEK_CUR) }
    })
}

/// Moves or asks with no buffer in between; the position.
fn position(at: At, file: usize, seek: impl FnOnce(i32) -> libc::off_t) -> i32 {
    let result = with(at, file, |object| {
        object.write_out()?;
        object.forget_input();
        match seek(object.descriptor) {
            place if place < 0 => Err(last_error()),
            place => Ok(place as i32),
        }
    });
    match result {
        None => 0,
        Some(Ok(place)) => place,
        Some(Err(error)) => failed(at, "seek", &error),
    }
}
