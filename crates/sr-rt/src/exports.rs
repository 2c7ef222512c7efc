//! The functions of the contract that exist in both flavours.
//!
//! Only the gate calls the functions that may switch. Each is inlined into one function together
//! with everything that leads from it to the switch. So the processor's predictions of returns stay
//! right.

use std::ffi::c_void;
use std::ptr;
use std::time::Duration;

use antiphon_fiber::{Fibers, Many, One, Region, Threads};

use crate::class::Class;
use crate::co::Co;
use crate::flavour::Flavour;
#[cfg(target_arch = "x86_64")]
use crate::gate;
use crate::layout::{
    At, Cap, Code, Component, Dimension, Instance, Invocation, Name, Op, OpTarget, ProcessHead,
    kind,
};
use crate::process::Waits;
use crate::semaphore::Semaphore;
use crate::{
    arena, arrays, destruction, ending, errors, files, instance, invocation, memory, ops, options,
};

/// Defines each function twice, with the names of both flavours.
macro_rules! export {
    ($one:ident $many:ident $(fn $name:ident<S>($($parameter:ident: $type:ty),* $(,)?) $(-> $result:ty)? $body:block)*) => {
        $(#[inline(always)]
        #[allow(unused_unsafe, reason = "some bodies need it")]
        unsafe fn $name<S: Flavour>($($parameter: $type),*) $(-> $result)? {
            // SAFETY: as stated where the functions are listed.
            unsafe { $body }
        })*
        mod $one {
            use super::*;
            type S = One;
            $(#[unsafe(export_name = concat!("sr1_", stringify!($name)))]
            unsafe extern "C" fn $name($($parameter: $type),*) $(-> $result)? {
                // SAFETY: generated code calls it as the contract says.
                unsafe { super::$name::<S>($($parameter),*) }
            })*
        }
        mod $many {
            use super::*;
            type S = Many;
            $(#[unsafe(export_name = concat!("srn_", stringify!($name)))]
            unsafe extern "C" fn $name($($parameter: $type),*) $(-> $result)? {
                // SAFETY: generated code calls it as the contract says.
                unsafe { super::$name::<S>($($parameter),*) }
            })*
        }
    };
}

/// The same for functions that may switch, and once more for the gate, which they leave by a jump.
macro_rules! export_gated {
    ($(fn $name:ident<S>($($parameter:ident: $type:ty),* $(,)?) $(-> $result:ty)? $body:block)*) => {
        export! { called_one called_many $(fn $name<S>($($parameter: $type),*) $(-> $result)? $body)* }
        #[cfg(target_arch = "x86_64")]
        mod gated_one {
            use super::*;
            type S = One;
            $(#[unsafe(export_name = concat!("sr1_gate_", stringify!($name)))]
            unsafe extern "C" fn $name(a: usize, b: usize, c: usize, d: usize, saved: *const u64) -> ! {
                gated!(super::$name::<S>, a b c d saved, $($parameter: $type),*)
            })*
        }
        #[cfg(target_arch = "x86_64")]
        mod gated_many {
            use super::*;
            type S = Many;
            $(#[unsafe(export_name = concat!("srn_gate_", stringify!($name)))]
            unsafe extern "C" fn $name(a: usize, b: usize, c: usize, d: usize, saved: *const u64) -> ! {
                gated!(super::$name::<S>, a b c d saved, $($parameter: $type),*)
            })*
        }
    };
}

/// The body of a function for the gate: its parameters come as words.
#[cfg(target_arch = "x86_64")]
macro_rules! gated {
    ($function:expr, $a:ident $b:ident $c:ident $d:ident $saved:ident, $($parameter:ident: $type:ty),*) => {{
        #[allow(unused_mut, unused_variables, reason = "not all have parameters")]
        let mut words = [$a, $b, $c, $d].into_iter();
        $(let $parameter = <$type as Word>::from_word(words.next().unwrap_or_default());)*
        // SAFETY: the gate passes the words of generated code's parameters, and its saved registers.
        unsafe {
            let result = $function($($parameter),*);
            gate::leave($saved, result.into_word())
        }
    }};
}

/// A value that fits a register.
#[cfg(target_arch = "x86_64")]
pub trait Word {
    fn from_word(word: usize) -> Self;
    fn into_word(self) -> usize;
}

#[cfg(target_arch = "x86_64")]
macro_rules! words {
    ($([$($generic:ident)?] $type:ty: $word:ident => $from:expr, $value:ident => $into:expr;)*) => {
        $(impl $(<$generic>)? Word for $type {
            #[inline(always)]
            fn from_word($word: usize) -> Self { $from }
            #[inline(always)]
            fn into_word(self) -> usize { let $value = self; $into }
        })*
    };
}

#[cfg(target_arch = "x86_64")]
words! {
    [T] *mut T: word => word as *mut T, value => value as usize;
    [T] *const T: word => word as *const T, value => value as usize;
    [] usize: word => word, value => value;
    [] u32: word => word as u32, value => value as usize;
    [] i32: word => word as i32, value => value as u32 as usize;
    [] bool: word => word as u8 != 0, value => usize::from(value);
    [] (): _word => (), _value => 0;
}

// SAFETY: generated code calls these functions as `include/sr.h` says, with pointers of the kinds
// stated there. Each passes them on to a function with the same contract, or uses them as its line
// says: memory that it initialises is the caller's, and `this` is the caller's own descriptor.
export! {
    plain_one plain_many
    // The head of a loop.
    fn loop_is_up<S>() { Fibers::<S>::poll_is_up(); }
    // Memory.
    fn allocate_more<S>(at: At, bytes: i64) -> *mut c_void {
        let _entered = Fibers::<S>::enter();
        arena::allocate_more(&mut (*S::this()).head.arena, at, bytes)
    }
    fn release_chunks<S>(chunk: *mut c_void, next: *mut u8) {
        let _entered = Fibers::<S>::enter();
        arena::release(&mut (*S::this()).head.arena, chunk, next);
    }
    fn instance_allocate<S>(at: At, of: *mut Instance, bytes: i64) -> *mut c_void {
        memory::allocate_in::<S>(at, of, bytes)
    }
    fn new<S>(at: At, bytes: i64) -> *mut c_void { memory::allocate::<S>(at, bytes) }
    fn free<S>(at: At, block: *mut c_void) { memory::free::<S>(at, block); }
    fn array_make<S>(at: At, of: *mut Instance, d: *mut Dimension, dimensions: i32, element_bytes: i64) -> *mut c_void {
        let bytes = arrays::layout(at, d, dimensions, element_bytes);
        if !of.is_null() {
            return memory::allocate_in::<S>(at, of, bytes);
        }
        let block = allocate(at, bytes);
        // Larger blocks are fresh from the kernel, and stay untouched until they are used.
        if bytes <= arena::MOST_BYTES as i64 {
            ptr::write_bytes(block.cast::<u8>(), 0, bytes as usize);
        }
        block
    }

    // Operations.
    fn op_proc<S>(op: *mut Op, of: *mut Instance, name: Name, code: Code, is_separate: bool) {
        let kind = if is_separate { kind::SEPARATE } else { kind::PROC };
        ops::begin::<S>(op, of, name, kind, OpTarget { code: Some(code) });
    }
    fn op_input<S>(op: *mut Op, of: *mut Instance, name: Name, class: *mut c_void) {
        ops::begin::<S>(op, of, name, kind::INPUT, OpTarget { class });
    }
    fn op_semaphore<S>(op: *mut Op, of: *mut Instance, name: Name, semaphore: *mut c_void) {
        ops::begin::<S>(op, of, name, kind::SEMAPHORE, OpTarget { semaphore });
    }
    fn op_end<S>(first: *mut Op, count: i64) {
        let _entered = Fibers::<S>::enter();
        ops::end::<S>(first, count);
    }
    fn ops_new<S>(at: At, count: i64) -> *mut Op { ops::allocate::<S>(at, count) }
    fn ops_free<S>(first: *mut Op, count: i64) { ops::free::<S>(first, count); }
    fn instance_ops<S>(of: *mut Instance, first: *mut Op, count: i64) {
        let _entered = Fibers::<S>::enter();
        instance::with_processes::<S, _>(of, |inner| inner.ops.push((first, count)));
    }
    fn op_create<S>(at: At, of: *mut Instance, name: Name, class: *mut Class<S>) -> Cap { ops::create::<S>(at, of, name, class) }
    fn op_destroy<S>(at: At, cap: Cap) { ops::destroy::<S>(at, cap); }
    fn class_init<S>(class: *mut Class<S>) { class.write(Class::new()); }
    fn class_new<S>(_at: At) -> *mut Class<S> {
        let _entered = Fibers::<S>::enter();
        Box::into_raw(Box::new(Class::new()))
    }
    fn class_free<S>(class: *mut Class<S>) {
        let _entered = Fibers::<S>::enter();
        drop(Box::from_raw(class));
    }
    fn semaphore_init<S>(at: At, semaphore: *mut Semaphore<S>, name: Name, value: i32) {
        if value < 0 {
            errors::abort(at, &format!("illegal semaphore initializer value: {value}"));
        }
        semaphore.write(Semaphore::new(name, value));
    }
    fn pending<S>(at: At, cap: Cap) -> i32 { ops::pending::<S>(at, cap) }

    // Invocations.
    fn invocation_new<S>(at: At, bytes: i64) -> *mut Invocation { invocation::allocate::<S>(at, bytes) }
    fn invocation_free<S>(block: *mut Invocation) {
        let _entered = Fibers::<S>::enter();
        invocation::free(block);
    }
    fn send<S>(at: At, block: *mut Invocation) { invocation::send::<S>(at, block); }
    fn reply<S>(at: At, block: *mut Invocation) -> *mut Invocation { invocation::reply::<S>(at, block) }
    fn forward<S>(at: At, block: *mut Invocation, next: *mut Invocation) -> *mut Invocation {
        invocation::forward::<S>(at, block, next)
    }
    fn finish<S>(_at: At, block: *mut Invocation) { invocation::finish::<S>(block); }

    // Input.
    fn class_take<S>(class: *mut Class<S>, block: *mut Invocation) { Class::take(class, block); }
    fn class_leave<S>(class: *mut Class<S>) { Class::leave(class); }

    // Semaphores.
    fn v<S>(semaphore: *mut Semaphore<S>) { Semaphore::v(semaphore); }
    fn v_wake<S>(semaphore: *mut Semaphore<S>) { Semaphore::v_wake(semaphore); }

    // co.
    fn co_begin<S>(_at: At) -> *mut Co<S> {
        let _entered = Fibers::<S>::enter();
        Co::begin()
    }
    fn co_call<S>(at: At, co: *mut Co<S>, block: *mut Invocation) {
        let _entered = Fibers::<S>::enter();
        Co::call(co, at, block);
    }
    fn co_send<S>(at: At, co: *mut Co<S>, block: *mut Invocation) {
        let _entered = Fibers::<S>::enter();
        Co::send(co, at, block);
    }
    fn co_done<S>(at: At, co: *mut Co<S>, arm: i32) {
        let _entered = Fibers::<S>::enter();
        Co::done(co, at, arm);
    }
    fn co_end<S>(co: *mut Co<S>) { Co::end(co); }

    // Components.
    fn reply_body<S>(at: At) { instance::reply::<S>(at); }

    // Processes.
    fn priority<S>() -> i32 { Fibers::<S>::priority() }
    fn age<S>() -> i32 { Fibers::<S>::now().as_millis() as i32 }
    fn external<S>(at: At, code: unsafe extern "C" fn(*mut c_void), parameters: *mut c_void) {
        // `leave_external` releases it.
        std::mem::forget(Fibers::<S>::enter());
        files::flush_standard_output();
        (*S::this()).head.at = at;
        if let Err(error) = Fibers::<S>::on_roomy_stack(|| code(parameters)) {
            errors::abort(at, &error.to_string());
        }
    }
}

// SAFETY: as for the functions that do not switch.
export_gated! {
    fn call<S>(at: At, block: *mut Invocation) -> *mut Invocation { invocation::call::<S>(at, block) }
    fn receive<S>(at: At, op: *mut Op, serial: u32, has_else: bool) -> *mut Invocation {
        ops::receive::<S>(at, Cap::here(op, serial), has_else)
    }
    fn class_enter<S>(at: At, class: *mut Class<S>, has_else: bool) {
        Class::enter(class, at, ptr::null_mut(), has_else);
    }
    fn class_wait<S>(at: At, class: *mut Class<S>) { Class::wait(class, at, ptr::null_mut()); }
    fn p<S>(at: At, semaphore: *mut Semaphore<S>) { Semaphore::p(semaphore, at); }
    fn p_wait<S>(at: At, semaphore: *mut Semaphore<S>) { Semaphore::p_wait(semaphore, at); }
    fn co_wait<S>(at: At, co: *mut Co<S>) -> *mut Invocation { Co::wait(co, at) }
    fn create<S>(at: At, component: *const Component, parameters: *const c_void, bytes: usize) -> *mut Instance {
        instance::create::<S>(at, component, parameters, bytes)
    }
    fn destroy<S>(at: At, of: *mut Instance, serial: u32, machine: u32) {
        #[cfg(feature = "machines")]
        if !of.is_null() && machine != crate::machines::own() {
            return crate::machines::destroy::<S>(at, machine, of, serial);
        }
        let _ = machine;
        destruction::destroy::<S>(at, of, serial);
    }
    fn need_global<S>(at: At, component: *const Component) { instance::need_global::<S>(at, component); }
    fn yield_now<S>(at: At) {
        (*S::this()).head.at = at;
        Fibers::<S>::yield_now();
    }
    fn nap<S>(at: At, milliseconds: i32) {
        let _entered = Fibers::<S>::enter();
        files::flush_standard_output();
        let this = S::this();
        (*this).head.at = at;
        (*this).waits_for = Waits::Time;
        Fibers::<S>::sleep(Duration::from_millis(milliseconds.max(0) as u64));
    }
    fn set_priority<S>(at: At, priority: i32) {
        (*S::this()).head.at = at;
        Fibers::<S>::set_priority(priority);
    }
    fn stop<S>(at: At, code: i32) { ending::stop::<S>(at, code) }
    fn region<S>(at: At, region: i32) {
        (*S::this()).head.at = at;
        Fibers::<S>::set_region(Region(region.unsigned_abs() as usize));
    }
    fn point<S>() { Fibers::<S>::point(); }
    fn leave_external<S>() {
        // Output of the function through the C library's own files comes before what the program
        // prints next.
        libc::fflush(ptr::null_mut());
        Fibers::<S>::leave();
    }
}

#[unsafe(export_name = "srn_self")]
extern "C" fn srn_self() -> *mut ProcessHead {
    <Many as Flavour>::this().cast()
}

/// Allocates bytes from the running process's arena.
///
/// # Safety
/// Called by a process.
pub unsafe fn allocate(at: At, bytes: i64) -> *mut c_void {
    let _busy = crate::flavour::busy();
    let head: *mut ProcessHead = if options::is_many() {
        <Many as Flavour>::this().cast()
    } else {
        <One as Flavour>::this().cast()
    };
    // SAFETY: the caller's own descriptor.
    unsafe {
        let arena = &mut (*head).arena;
        let room = arena.limit as usize - arena.next as usize;
        if bytes < 0 || bytes as usize > room {
            return arena::allocate_more(arena, at, bytes);
        }
        let block = arena.next;
        arena.next = block.add((bytes as usize).next_multiple_of(16));
        block.cast()
    }
}
