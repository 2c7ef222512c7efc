//! Addresses in letters. All machines run one executable, so an address of a static is sent with the
//! sender's address of one of them.

use super::letters::{Base, CapSent};
use crate::layout::{Cap, Op, Program};

unsafe extern "C" {
    static sr_the_program: Program;
}

impl Base {
    /// Returns this machine's base.
    pub fn own() -> Self {
        Base(&raw const sr_the_program as u64)
    }

    /// Returns this machine's address of a static, given its address at the sender.
    pub fn here<T>(self, address: *const T) -> *const T {
        match address.is_null() {
            true => address,
            false => {
                let offset = (address as u64).wrapping_sub(self.0);
                Base::own().0.wrapping_add(offset) as *const T
            }
        }
    }
}

impl From<Cap> for CapSent {
    fn from(cap: Cap) -> Self {
        CapSent {
            op: cap.op as u64,
            serial: cap.serial,
            machine: cap.machine,
        }
    }
}

impl From<CapSent> for Cap {
    fn from(sent: CapSent) -> Self {
        Cap {
            op: sent.op as *mut Op,
            serial: sent.serial,
            machine: sent.machine,
        }
    }
}
