//! Open MPI's library, loaded at run time: the build needs nothing of it.
//!
//! Its handles are not part of the MPI standard, but of Open MPI's binary interface. All libraries
//! named `libmpi.so.40` have the same one: pointers to objects that the library exports. The loaded
//! library is asked for its version before any other call.
//!
//! All unsafe code of the platform is here. Its invariants:
//!
//! - One thread at a time makes calls (`&mut Library`, and the library is told so).
//! - A buffer that was given to the library keeps its address until the library is done with it, or
//!   for ever.

use std::ffi::{CStr, c_char, c_int, c_void};
use std::mem::ManuallyDrop;
use std::ptr::null_mut;
use std::sync::atomic::{AtomicBool, Ordering::SeqCst};

use bytes::Bytes;
use libloading::os::unix::{Library as Loaded, RTLD_GLOBAL, RTLD_NOW};

/// The library's name, which is also its binary interface's.
const NAME: &str = "libmpi.so.40";
/// Versions whose binary interface is the one that is used here.
const VERSIONS: [&str; 3] = ["Open MPI v3.", "Open MPI v4.", "Open MPI v5."];
const SERIALIZED: c_int = 2;
const ANY: c_int = -1;
const SUCCESS: c_int = 0;
const VERSION_MAX: usize = 256;

type Handle = *mut c_void;

/// The fields of Open MPI's `MPI_Status`.
#[repr(C)]
#[derive(Default)]
struct Status {
    source: c_int,
    tag: c_int,
    error: c_int,
    cancelled: c_int,
    bytes: usize,
}

/// The library's functions that are called.
struct Calls {
    send: unsafe extern "C" fn(
        *const c_void,
        c_int,
        Handle,
        c_int,
        c_int,
        Handle,
        *mut Handle,
    ) -> c_int,
    probe:
        unsafe extern "C" fn(c_int, c_int, Handle, *mut c_int, *mut Handle, *mut Status) -> c_int,
    receive: unsafe extern "C" fn(*mut c_void, c_int, Handle, *mut Handle, *mut Handle) -> c_int,
    test: unsafe extern "C" fn(*mut Handle, *mut c_int, *mut Status) -> c_int,
    finalize: unsafe extern "C" fn() -> c_int,
    abort: unsafe extern "C" fn(Handle, c_int) -> c_int,
}

/// Open MPI, begun.
pub struct Library {
    calls: Calls,
    world: Handle,
    byte: Handle,
    pub rank: u32,
    pub size: u32,
}

// SAFETY: the handles are addresses in the library. Any thread may use them, one at a time, which
// `&mut self` ensures.
unsafe impl Send for Library {}

/// Bytes on their way out.
pub struct Sending {
    request: Handle,
    bytes: Option<Bytes>,
}

/// Bytes on their way in.
pub struct Receiving {
    pub source: u32,
    pub tag: i32,
    request: Handle,
    bytes: Vec<u8>,
}

// SAFETY: the request is an address in the library, and is used with a `&mut Library` only. The
// bytes may move between threads.
unsafe impl Send for Sending {}
// SAFETY: the request is an address in the library, and is used with a `&mut Library` only. The
// bytes may move between threads.
unsafe impl Send for Receiving {}

/// Whether this process has begun MPI before, which it can do once.
static BEGUN: AtomicBool = AtomicBool::new(false);

impl Library {
    /// Loads and begins the library. The error says why that is impossible, and what to do.
    pub fn begin() -> Result<Self, String> {
        // SAFETY: the library's initialisers are Open MPI's.
        let loaded = unsafe { Loaded::open(Some(NAME), RTLD_NOW | RTLD_GLOBAL) }.map_err(|e| {
            format!("Open MPI's {NAME} cannot be loaded ({e}): install it (apt-get install openmpi-bin libopenmpi3)")
        })?;
        // The library is never unloaded: libraries that it loaded have left destructors with each
        // thread that called it.
        let loaded = ManuallyDrop::new(loaded);
        let version = version(&loaded)?;
        if !VERSIONS.iter().any(|known| version.starts_with(known)) {
            return Err(format!(
                "{NAME} says that it is `{version}`, whose binary interface is not known: use Open MPI 3, 4 or 5"
            ));
        }
        if BEGUN.swap(true, SeqCst) {
            return Err("MPI can be begun only once in a process".into());
        }
        initialise(&loaded)?;
        let world = data(&loaded, "ompi_mpi_comm_world")?;
        return_errors(&loaded, world)?;
        let number = |name| number(&loaded, name, world);
        let (rank, size) = (number("MPI_Comm_rank")?, number("MPI_Comm_size")?);
        Ok(Self {
            // SAFETY: these are the functions' types in the MPI standard, with Open MPI's handles.
            calls: unsafe {
                Calls {
                    send: *function(&loaded, "MPI_Isend")?,
                    probe: *function(&loaded, "MPI_Improbe")?,
                    receive: *function(&loaded, "MPI_Imrecv")?,
                    test: *function(&loaded, "MPI_Test")?,
                    finalize: *function(&loaded, "MPI_Finalize")?,
                    abort: *function(&loaded, "MPI_Abort")?,
                }
            },
            world,
            byte: data(&loaded, "ompi_mpi_byte")?,
            rank,
            size,
        })
    }

    /// Begins to send. Returns `None` if the library refuses.
    pub fn send(&mut self, to: u32, tag: i32, bytes: Bytes) -> Option<Sending> {
        let (to, length) = (
            c_int::try_from(to).ok()?,
            c_int::try_from(bytes.len()).ok()?,
        );
        let mut request = null_mut();
        // SAFETY: the bytes are immutable, and `Sending` keeps them in place until the request is
        // done.
        let done = unsafe {
            (self.calls.send)(
                bytes.as_ptr().cast(),
                length,
                self.byte,
                to,
                tag,
                self.world,
                &raw mut request,
            )
        };
        (done == SUCCESS).then_some(Sending {
            request,
            bytes: Some(bytes),
        })
    }

    /// Returns whether the bytes are out.
    pub fn is_sent(&mut self, sending: &mut Sending) -> bool {
        if sending.bytes.is_some() && self.is_done(&mut sending.request) {
            sending.bytes = None;
        }
        sending.bytes.is_none()
    }

    /// Begins to receive the next message, if there is one.
    pub fn receive(&mut self) -> Option<Receiving> {
        let (mut is_there, mut message, mut status) = (0, null_mut(), Status::default());
        // SAFETY: the three pointers are to local variables, which live during the call.
        let done = unsafe {
            (self.calls.probe)(
                ANY,
                ANY,
                self.world,
                &raw mut is_there,
                &raw mut message,
                &raw mut status,
            )
        };
        if done != SUCCESS || is_there == 0 {
            return None;
        }
        let source = u32::try_from(status.source).ok()?;
        let mut bytes = vec![0; status.bytes];
        let mut request = null_mut();
        // SAFETY: the buffer has that many bytes. `Receiving` keeps it in place, and untouched,
        // until the request is done.
        let done = unsafe {
            (self.calls.receive)(
                bytes.as_mut_ptr() as *mut c_void,
                c_int::try_from(status.bytes).ok()?,
                self.byte,
                &raw mut message,
                &raw mut request,
            )
        };
        if done != SUCCESS {
            return None;
        }
        Some(Receiving {
            source,
            tag: status.tag,
            request,
            bytes,
        })
    }

    /// Takes the bytes, if they are in.
    pub fn take(&mut self, receiving: &mut Receiving) -> Option<Vec<u8>> {
        if !self.is_done(&mut receiving.request) {
            return None;
        }
        Some(std::mem::take(&mut receiving.bytes))
    }

    /// Ends MPI in this process, and waits until the others end it too.
    pub fn finalize(&mut self) {
        // SAFETY: MPI was begun once, and is ended once: the owner drops the library after this.
        unsafe { (self.calls.finalize)() };
    }

    /// Ends all processes, whatever they do.
    pub fn abort(&mut self) {
        // SAFETY: MPI was begun, and has not ended.
        unsafe { (self.calls.abort)(self.world, 1) };
    }

    fn is_done(&mut self, request: &mut Handle) -> bool {
        if request.is_null() {
            return true;
        }
        let mut is_done = 0;
        // SAFETY: the request is of this library and was not found done before. A null status is
        // MPI_STATUS_IGNORE.
        let tested = unsafe { (self.calls.test)(request, &raw mut is_done, null_mut()) };
        let is_done = tested == SUCCESS && is_done != 0;
        if is_done {
            *request = null_mut();
        }
        is_done
    }
}

impl Drop for Sending {
    /// Leaks the bytes that the library may still read.
    fn drop(&mut self) {
        std::mem::forget(self.bytes.take());
    }
}

impl Drop for Receiving {
    /// Leaks the bytes to which the library may still write.
    fn drop(&mut self) {
        if !self.request.is_null() {
            std::mem::forget(std::mem::take(&mut self.bytes));
        }
    }
}

/// Registers `act` for the end of the process by itself. It runs before the library's own exit
/// handlers if MPI is begun by then.
pub fn at_exit(act: extern "C" fn()) {
    unsafe extern "C" {
        fn atexit(act: extern "C" fn()) -> c_int;
    }
    // SAFETY: the declaration is the C library's. If it has no room, the process ends as if nothing
    // had been registered.
    unsafe { atexit(act) };
}

/// Returns a function of the library.
///
/// # Safety
///
/// `F` is its type.
unsafe fn function<F>(
    loaded: &Loaded,
    name: &str,
) -> Result<libloading::os::unix::Symbol<F>, String> {
    // SAFETY: the caller promises that `F` is the symbol's type.
    unsafe { loaded.get(name.as_bytes()) }
        .map_err(|e| format!("{NAME} has no {name} ({e}): it is no Open MPI"))
}

/// Returns the address of an object of the library, which is a handle.
fn data(loaded: &Loaded, name: &str) -> Result<Handle, String> {
    // SAFETY: only the address is used.
    let symbol = unsafe { function::<Handle>(loaded, name) }?;
    Ok(symbol.into_raw())
}

fn version(loaded: &Loaded) -> Result<String, String> {
    type Ask = unsafe extern "C" fn(*mut c_char, *mut c_int) -> c_int;
    let (mut text, mut length) = ([0_u8; VERSION_MAX], 0);
    // SAFETY: the standard's type. Open MPI writes at most 256 bytes, the last of them zero, and
    // may be asked before it is begun.
    unsafe {
        function::<Ask>(loaded, "MPI_Get_library_version")?(
            text.as_mut_ptr().cast(),
            &raw mut length,
        )
    };
    let text = CStr::from_bytes_until_nul(&text).unwrap_or_default();
    let text = text.to_string_lossy();
    Ok(text.split(',').next().unwrap_or_default().to_owned())
}

fn initialise(loaded: &Loaded) -> Result<(), String> {
    type Begin = unsafe extern "C" fn(*mut c_int, *mut c_void, c_int, *mut c_int) -> c_int;
    let mut given = 0;
    // SAFETY: the standard's type; no arguments are passed on, which is allowed.
    let done = unsafe {
        function::<Begin>(loaded, "MPI_Init_thread")?(
            null_mut(),
            null_mut(),
            SERIALIZED,
            &raw mut given,
        )
    };
    if done != SUCCESS {
        return Err(format!(
            "MPI_Init_thread failed with code {done}: see what Open MPI wrote"
        ));
    }
    if given < SERIALIZED {
        return Err(
            "this Open MPI was built without support for threads: use another build".into(),
        );
    }
    Ok(())
}

fn return_errors(loaded: &Loaded, world: Handle) -> Result<(), String> {
    type Set = unsafe extern "C" fn(Handle, Handle) -> c_int;
    let handler = data(loaded, "ompi_mpi_errors_return")?;
    // SAFETY: the standard's type, with Open MPI's handles.
    unsafe { function::<Set>(loaded, "MPI_Comm_set_errhandler")?(world, handler) };
    Ok(())
}

fn number(loaded: &Loaded, name: &str, world: Handle) -> Result<u32, String> {
    type Ask = unsafe extern "C" fn(Handle, *mut c_int) -> c_int;
    let mut number = 0;
    // SAFETY: the standard's type, with Open MPI's handle.
    let done = unsafe { function::<Ask>(loaded, name)?(world, &raw mut number) };
    let number = u32::try_from(number).ok().filter(|_| done == SUCCESS);
    number.ok_or_else(|| format!("{name} gave nothing useful"))
}
