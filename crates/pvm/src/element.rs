//! The numbers in messages, in the form of this machine or in XDR.
//!
//! XDR has units of four bytes, most significant byte first. A `short` takes one, and so does a
//! `long`. A `long` may therefore be too large.

use crate::code::Code;

/// A number that can be packed.
pub trait Element: Copy + Default {
    /// Bytes of its XDR form.
    const XDR: usize;

    /// Writes its XDR form.
    ///
    /// # Errors
    /// [`Code::OVERFLOW`]: the form cannot hold it.
    fn write(self, to: &mut [u8]) -> Result<(), Code>;

    /// Reads its XDR form.
    fn read(from: &[u8]) -> Self;
}

/// Returns the first bytes, which must be there.
fn first<const N: usize>(from: &[u8]) -> [u8; N] {
    from.first_chunk().copied().unwrap_or([0; N])
}

macro_rules! as_is {
    ($($number:ty)*) => {$(
        impl Element for $number {
            const XDR: usize = size_of::<Self>();

            #[inline]
            fn write(self, to: &mut [u8]) -> Result<(), Code> {
                to.copy_from_slice(&self.to_be_bytes());
                Ok(())
            }

            #[inline]
            fn read(from: &[u8]) -> Self {
                Self::from_be_bytes(first(from))
            }
        }
    )*};
}

/// Numbers that are packed as another number, of four bytes.
macro_rules! as_unit {
    ($($number:ty => $unit:ty)*) => {$(
        impl Element for $number {
            const XDR: usize = 4;

            #[inline]
            fn write(self, to: &mut [u8]) -> Result<(), Code> {
                let unit = <$unit>::try_from(self).map_err(|_| Code::OVERFLOW)?;
                to.copy_from_slice(&unit.to_be_bytes());
                Ok(())
            }

            #[inline]
            fn read(from: &[u8]) -> Self {
                <$unit>::from_be_bytes(first(from)) as Self
            }
        }
    )*};
}

as_is!(i32 u32 f32 f64);
as_unit!(i16 => i32 u16 => u32 i64 => i32 u64 => u32);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_that_needs_more_than_a_unit_is_refused() {
        let mut unit = [0; 4];
        assert_eq!((-1_i64).write(&mut unit), Ok(()));
        assert_eq!(i64::read(&unit), -1);
        assert_eq!((1_i64 << 31).write(&mut unit), Err(Code::OVERFLOW));
        assert_eq!((1_u64 << 31).write(&mut unit), Ok(()));
        assert_eq!(u64::read(&unit), 1 << 31);
        assert_eq!((1_u64 << 32).write(&mut unit), Err(Code::OVERFLOW));
    }

    #[test]
    fn a_short_takes_a_unit_and_keeps_its_sign() {
        let mut unit = [9; 4];
        (-2_i16).write(&mut unit).unwrap();
        assert_eq!(unit, [0xff, 0xff, 0xff, 0xfe]);
        assert_eq!(i16::read(&unit), -2);
    }
}
