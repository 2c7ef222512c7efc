//! Files: buffers above the system's descriptors. A process that reads gives up its server while it
//! waits; a process that writes keeps it.

use std::ffi::CString;

use parking_lot::Mutex;

use crate::errors::abort;
use crate::layout::{At, Text};
use crate::{flavour, machines, process};

/// Values of `sr_file` that are no files. Other values are places in the table, offset by these.
const NULL: usize = 0;
const NOOP: usize = 1;
const FIRST: usize = 2;
/// The program's standard input, as a value of `sr_file`.
#[cfg(feature = "machines")]
pub const STANDARD_INPUT: usize = FIRST;
const STANDARD_OUTPUT: usize = 1;
const STANDARD_ERROR: usize = 2;

/// Bytes that are read or written at once.
const BUFFER_BYTES: usize = 64 << 10;

/// An open file, or the rest of a closed one.
struct Object {
    descriptor: i32,
    /// Input that was read; the part from `taken` on is not used yet.
    input: Vec<u8>,
    taken: usize,
    output: Vec<u8>,
    is_open: bool,
    /// Written out with each line, because a person reads along.
    is_terminal: bool,
    /// Written out at once.
    is_direct: bool,
    /// The C library's file of the same descriptor, once an external function has received it.
    of_c: *mut libc::FILE,
}

// SAFETY: the C library locks its files.
unsafe impl Send for Object {}

static FILES: Mutex<Vec<Object>> = Mutex::new(Vec::new());

/// Why output was lost, if the program got no error for it. The end of the program reports it.
static LOST: Mutex<Option<std::io::Error>> = Mutex::new(None);

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
        of_c: std::ptr::null_mut(),
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

/// Applies a function to an open file. Aborts on a null or closed one; returns none for noop.
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
    /// Writes out the buffer.
    fn write_out(&mut self) -> std::io::Result<()> {
        if matches!(self.descriptor, 1 | 2) && machines::is_guest() {
            if !self.output.is_empty() {
                machines::relay(self.descriptor, &self.output);
                self.output.clear();
            }
            return Ok(());
        }
        let output = std::mem::take(&mut self.output);
        let mut rest = &output[..];
        while !rest.is_empty() {
            // SAFETY: writes a slice.
            let written = unsafe { libc::write(self.descriptor, rest.as_ptr().cast(), rest.len()) };
            if written < 0 {
                let error = last_error();
                match error.kind() {
                    std::io::ErrorKind::Interrupted => continue,
                    // Another process that shares the descriptor has made it non-blocking.
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

    /// Drops input that was read ahead, so that the system's position is the program's again.
    fn forget_input(&mut self) {
        let ahead = self.input.len() - self.taken;
        if ahead > 0 {
            // SAFETY: a plain call. A descriptor that cannot seek stays as it is.
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

/// Writes out what the program wrote to standard output. Called where errors are reported, as those
/// have no buffer.
pub fn flush_standard_output() {
    with_table(|files| note_loss(files[STANDARD_OUTPUT].write_out()));
}

/// Appends what another virtual machine wrote to standard output or standard error, and writes it
/// out.
#[cfg(feature = "machines")]
pub fn append(descriptor: i32, text: &[u8]) {
    with_table(|files| {
        note_loss(files[STANDARD_OUTPUT].write_out());
        let place = if descriptor == 2 {
            STANDARD_ERROR
        } else {
            STANDARD_OUTPUT
        };
        files[place].output.extend_from_slice(text);
        note_loss(files[place].write_out());
    });
}

fn note_loss(written: std::io::Result<()>) {
    if let Err(error) = written {
        LOST.lock().get_or_insert(error);
    }
}

/// The same where the caller may be using the table: in that case it writes nothing.
pub fn flush_standard_output_if_free() {
    if let Some(mut files) = FILES.try_lock()
        && let Some(output) = files.get_mut(STANDARD_OUTPUT)
    {
        let _ = output.write_out();
    }
}

/// Writes out all files, at the end. Returns why output was lost, now or before, if it was.
pub fn flush_all() -> Option<std::io::Error> {
    with_table(|files| {
        for object in files.iter_mut().filter(|o| o.is_open) {
            note_loss(object.write_out());
        }
    });
    LOST.lock().take()
}

/// What a read found in the buffer.
enum Input {
    Byte(u8),
    /// The buffer is empty: its descriptor has to be read.
    Empty(i32),
}

/// Returns the next character of a file without taking it; none at its end. While there is none
/// yet, other processes go on.
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

/// Takes the character that [`peek`] returned.
pub fn advance(at: At, file: usize) {
    with(at, file, |object| object.taken += 1);
}

/// Takes characters that are in the buffer, up to the wanted number.
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

/// Reads more. Returns whether there was something.
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
    // A file on disk, or input that is already available, is read at once. Otherwise a thread waits
    // for the input.
    let is_relayed = descriptor == 0 && machines::is_guest();
    let is_ready = !is_relayed && wait_for(descriptor, libc::POLLIN, 0);
    let result = if is_relayed {
        Ok(machines::read_line(at))
    } else if is_ready {
        read()
    } else {
        process::note_input();
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

unsafe fn path(name: Text) -> Option<CString> {
    // SAFETY: the callers pass a text of the contract.
    CString::new(unsafe { name.bytes() }).ok()
}

#[unsafe(no_mangle)]
unsafe extern "C" fn sr_open(name: Text, mode: i32) -> usize {
    let _busy = flavour::busy();
    // SAFETY: a text of the contract.
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
        let of_c = std::mem::replace(&mut object.of_c, std::ptr::null_mut());
        // SAFETY: closes its own descriptor, once; C's file has a copy.
        unsafe {
            if !of_c.is_null() {
                libc::fclose(of_c);
            }
            libc::close(object.descriptor);
        }
        result
    });
    if let Some(Err(error)) = result {
        failed(at, "close", &error);
    }
}

unsafe extern "C" {
    static stdin: *mut libc::FILE;
    static stdout: *mut libc::FILE;
    static stderr: *mut libc::FILE;
}

#[unsafe(no_mangle)]
extern "C" fn sr_c_file(at: At, file: usize) -> *mut libc::FILE {
    let _busy = flavour::busy();
    if file == NULL {
        return std::ptr::null_mut();
    }
    if file == NOOP {
        // SAFETY: static texts.
        return unsafe { libc::fopen(c"/dev/null".as_ptr(), c"r+".as_ptr()) };
    }
    let found = with(at, file, |object| {
        object.write_out()?;
        object.forget_input();
        if object.of_c.is_null() {
            object.of_c = of_c(object.descriptor)?;
        }
        Ok(object.of_c)
    });
    match found {
        None => std::ptr::null_mut(),
        Some(Ok(file)) => file,
        Some(Err(error)) => failed(at, "hand over to C", &error),
    }
}

/// Returns a C library file for a descriptor: a standard one, or a new one without a buffer.
fn of_c(descriptor: i32) -> std::io::Result<*mut libc::FILE> {
    // SAFETY: the C library's own, which it never changes.
    match unsafe { (descriptor, stdin, stdout, stderr) } {
        (0, file, _, _) | (1, _, file, _) | (2, _, _, file) => return Ok(file),
        _ => {}
    }
    // SAFETY: a copy of the descriptor, which the new file owns.
    unsafe {
        let mode = match libc::fcntl(descriptor, libc::F_GETFL) & libc::O_ACCMODE {
            libc::O_RDONLY => c"r",
            libc::O_WRONLY => c"w",
            _ => c"r+",
        };
        let copy = libc::fcntl(descriptor, libc::F_DUPFD_CLOEXEC, 3);
        let file = match copy {
            0.. => libc::fdopen(copy, mode.as_ptr()),
            _ => std::ptr::null_mut(),
        };
        if file.is_null() {
            return Err(last_error());
        }
        libc::setvbuf(file, std::ptr::null_mut(), libc::_IONBF, 0);
        Ok(file)
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

/// Moves or asks for the position, with no buffer in between. Returns the position.
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
