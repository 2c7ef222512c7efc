//! Open MPI as its users call it: `MPI_Send` and `MPI_Recv`.

use std::ffi::{c_int, c_void};
use std::ptr::null_mut;

use libloading::os::unix::{Library, RTLD_GLOBAL, RTLD_NOW, Symbol};

use crate::contest::Case;
use crate::pair::{Exchange, exchange};

type Handle = *mut c_void;
type Begin = unsafe extern "C" fn(*mut c_int, *mut c_void) -> c_int;
type End = unsafe extern "C" fn() -> c_int;
type Send = unsafe extern "C" fn(*const u8, c_int, Handle, c_int, c_int, Handle) -> c_int;
type Receive = unsafe extern "C" fn(*mut u8, c_int, Handle, c_int, c_int, Handle, Handle) -> c_int;

/// Sends messages there and back, or in one direction.
pub fn run(case: &Case) {
    // SAFETY: the standard's types, with Open MPI's handles. The buffers have the stated lengths.
    unsafe {
        let library =
            Library::open(Some("libmpi.so.40"), RTLD_NOW | RTLD_GLOBAL).expect("Open MPI");
        let begin: Symbol<Begin> = library.get(b"MPI_Init").expect("a function");
        let end: Symbol<End> = library.get(b"MPI_Finalize").expect("a function");
        let send: Symbol<Send> = library.get(b"MPI_Send").expect("a function");
        let receive: Symbol<Receive> = library.get(b"MPI_Recv").expect("a function");
        let object = |name: &[u8]| library.get::<Handle>(name).expect("an object").into_raw();
        let (world, byte) = (object(b"ompi_mpi_comm_world"), object(b"ompi_mpi_byte"));
        begin(null_mut(), null_mut());
        let messages = Messages {
            send: *send,
            receive: *receive,
            world,
            byte,
            other: 1 - case.rank as c_int,
            payload: vec![7; case.bytes],
            space: vec![0; case.bytes],
        };
        exchange(case, messages);
        end();
    }
}

/// The functions and handles for `MPI_Send` and `MPI_Recv`.
struct Messages {
    send: Send,
    receive: Receive,
    world: Handle,
    byte: Handle,
    other: c_int,
    payload: Vec<u8>,
    space: Vec<u8>,
}

impl Exchange for Messages {
    fn give(&mut self, bytes: usize) {
        let (from, length) = (self.payload[..bytes].as_ptr(), bytes as c_int);
        // SAFETY: between `MPI_Init` and `MPI_Finalize`. The buffer has `length` bytes.
        unsafe { (self.send)(from, length, self.byte, self.other, 0, self.world) };
    }

    fn take(&mut self) {
        let (into, room) = (self.space.as_mut_ptr(), self.space.len() as c_int);
        let (byte, world) = (self.byte, self.world);
        // SAFETY: between `MPI_Init` and `MPI_Finalize`; `space` has `room` bytes.
        unsafe { (self.receive)(into, room, byte, self.other, 0, world, null_mut()) };
    }
}
