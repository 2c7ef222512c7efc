//! Open MPI's library, loaded when it is asked for: nothing of it is needed to build.
//!
//! Its handles are not part of the MPI standard but of Open MPI's binary interface, which is the same for all that are called `libmpi.so.40`: pointers to objects that the
//! library exports. What is loaded is asked who it is before anything else is called.
//!
//! All unsafe code of the platform is here. Its invariants: calls are made by one thread at a time (`&mut Library`, and the library is told so); a buffer that was given to
//! the library stays where it is until the library says that it is done with it, or for ever.

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

/// The fields that Open MPI's `MPI_Status` has.
#[repr(C)]
#[derive(Default)]
struct Status {
    source: c_int,
    tag: c_int,
    error: c_int,
    cancelled: c_int,
    bytes: usize,
}

/// The calls that are made.
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

// SAFETY: handles are addresses in the library, which any thread may use, one at a time.
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

// SAFETY: as for `Library`; they are used with a `&mut Library` only.
unsafe impl Send for Sending {}
// SAFETY: as above.
unsafe impl Send for Receiving {}

/// Whether this process has begun before: MPI can be begun once.
static BEGUN: AtomicBool = AtomicBool::new(false);

impl Library {
    /// Loads and begins it. In words why that cannot be, and what to do.
    pub fn begin() -> Result<Self, String> {
        // SAFETY: the library's initialisers are Open MPI's.
        let loaded = unsafe { Loaded::open(Some(NAME), RTLD_NOW | RTLD_GLOBAL) }.map_err(|e| {
            format!("Open MPI's {NAME} cannot be loaded ({e}): install it (apt-get install openmpi-bin libopenmpi3)")
        })?;
        // It stays: libraries that it brought have left destructors with each thread that called it.
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

    /// Begins to send. Nothing if the library refuses.
    pub fn send(&mut self, to: u32, tag: i32, bytes: Bytes) -> Option<Sending> {
        let (to, length) = (
            c_int::try_from(to).ok()?,
            c_int::try_from(bytes.len()).ok()?,
        );
        let mut request = null_mut();
        // SAFETY: the bytes are immutable and stay where they are until the request is done (`Sending`).
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

    /// Whether the bytes are out.
    pub fn is_sent(&mut self, sending: &mut Sending) -> bool {
        if sending.bytes.is_some() && self.is_done(&mut sending.request) {
            sending.bytes = None;
        }
        sending.bytes.is_none()
    }

    /// Begins to receive what comes next, if anything does.
    pub fn receive(&mut self) -> Option<Receiving> {
        let (mut is_there, mut message, mut status) = (0, null_mut(), Status::default());
        // SAFETY: all three are ours.
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
        // SAFETY: there are that many bytes, which nobody else touches and which stay where they are until the request is done (`Receiving`).
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

    /// The bytes, if they are in.
    pub fn take(&mut self, receiving: &mut Receiving) -> Option<Vec<u8>> {
        if !self.is_done(&mut receiving.request) {
            return None;
        }
        Some(std::mem::take(&mut receiving.bytes))
    }

    /// Ends MPI in this process; waits until the others end it too.
    pub fn finalize(&mut self) {
        // SAFETY: it was begun once, and is ended once: the owner drops the library after this.
        unsafe { (self.calls.finalize)() };
    }

    /// Ends all processes, whatever they do.
    pub fn abort(&mut self) {
        // SAFETY: it was begun, and has not ended.
        unsafe { (self.calls.abort)(self.world, 1) };
    }

    fn is_done(&mut self, request: &mut Handle) -> bool {
        if request.is_null() {
            return true;
        }
        let mut is_done = 0;
        // SAFETY: a request of this library that was not found done before; a null status is MPI_STATUS_IGNORE.
        let tested = unsafe { (self.calls.test)(request, &raw mut is_done, null_mut()) };
        let is_done = tested == SUCCESS && is_done != 0;
        if is_done {
            *request = null_mut();
        }
        is_done
    }
}

impl Drop for Sending {
    /// What the library may still read stays for ever.
    fn drop(&mut self) {
        std::mem::forget(self.bytes.take());
    }
}

impl Drop for Receiving {
    /// What the library may still write to stays for ever.
    fn drop(&mut self) {
        if !self.request.is_null() {
            std::mem::forget(std::mem::take(&mut self.bytes));
        }
    }
}

/// Has something done when the process ends by itself, before what the library has done then if that is begun.
pub fn at_exit(act: extern "C" fn()) {
    unsafe extern "C" {
        fn atexit(act: extern "C" fn()) -> c_int;
    }
    // SAFETY: the C library's own type of it. Where it has no room the process ends as if nothing had been asked.
    unsafe { atexit(act) };
}

/// A function of the library.
///
/// # Safety
/// `F` is its type.
unsafe fn function<F>(
    loaded: &Loaded,
    name: &str,
) -> Result<libloading::os::unix::Symbol<F>, String> {
    // SAFETY: the caller's.
    unsafe { loaded.get(name.as_bytes()) }
        .map_err(|e| format!("{NAME} has no {name} ({e}): it is no Open MPI"))
}

/// The address of an object of the library, which is a handle.
fn data(loaded: &Loaded, name: &str) -> Result<Handle, String> {
    // SAFETY: only the address is used.
    let symbol = unsafe { function::<Handle>(loaded, name) }?;
    Ok(symbol.into_raw())
}

fn version(loaded: &Loaded) -> Result<String, String> {
    type Ask = unsafe extern "C" fn(*mut c_char, *mut c_int) -> c_int;
    let (mut text, mut length) = ([0_u8; VERSION_MAX], 0);
    // SAFETY: the standard's type. Open MPI writes at most 256 bytes, the last of them zero, and may be asked before it is begun.
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
