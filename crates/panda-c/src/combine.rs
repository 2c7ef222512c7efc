//! The function that combines values of a collective operation, in the form of the protocols.

use std::ffi::c_void;
use std::sync::{Arc, Mutex, PoisonError};

use antiphon_panda::Message;
use bytes::Bytes;

use crate::communicator::panda_combine;
use crate::given::{Context, called, given};
use crate::status::Failure;

type Combine = unsafe extern "C-unwind" fn(*mut c_void, *mut c_void, *const c_void, usize);

/// A combining function that is valid until its operation is over. After that, copies in the
/// protocols do nothing.
pub(crate) struct Combining(Arc<Mutex<Option<(Combine, Context)>>>);

impl Combining {
    pub(crate) fn begin(combine: panda_combine, context: *mut c_void) -> Result<Self, Failure> {
        let combine = given(combine, "combine")?;
        let context = Context::new(context, None);
        Ok(Self(Arc::new(Mutex::new(Some((combine, context))))))
    }

    pub(crate) fn closure(&self) -> impl Fn(Message, Message) -> Message + Send + 'static {
        let combining = self.0.clone();
        move |into, other| {
            let length = into.len();
            if length != other.len() {
                let other = other.len();
                refuse(format!(
                    "values of {length} and of {other} bytes: all processes give as many"
                ));
            }
            let (mut into, other) = (Aligned::copy_of(&into), Aligned::copy_of(&other));
            match &*combining.lock().unwrap_or_else(PoisonError::into_inner) {
                // SAFETY: the program gave both for this, and the values have the given lengths.
                Some((combine, context)) => called(|| unsafe {
                    combine(
                        context.pointer(),
                        into.words.as_mut_ptr().cast(),
                        other.words.as_ptr().cast(),
                        length,
                    );
                }),
                None => refuse("the operation is over".into()),
            }
            Bytes::from_owner(into).into()
        }
    }
}

impl Drop for Combining {
    fn drop(&mut self) {
        // Waits for a call that is running.
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = None;
    }
}

/// Unwinds without a message on standard error. As with a panic, the operation reports an error to
/// all.
fn refuse(why: String) -> ! {
    std::panic::resume_unwind(Box::new(why))
}

/// Bytes at an address that is aligned for any type.
struct Aligned {
    words: Vec<u128>,
    length: usize,
}

impl Aligned {
    fn copy_of(message: &Message) -> Self {
        let length = message.len();
        let mut words = vec![0u128; length.div_ceil(size_of::<u128>())];
        let mut at = words.as_mut_ptr().cast::<u8>();
        for slice in message.slices() {
            // SAFETY: the slices are together as long as the message, for which there is room.
            unsafe {
                at.copy_from_nonoverlapping(slice.as_ptr(), slice.len());
                at = at.add(slice.len());
            }
        }
        Self { words, length }
    }
}

impl AsRef<[u8]> for Aligned {
    fn as_ref(&self) -> &[u8] {
        // SAFETY: the words hold this many bytes, all of them initialized.
        unsafe { std::slice::from_raw_parts(self.words.as_ptr().cast(), self.length) }
    }
}
