//! Numbers in arrays of programs, their reductions, and their form between processes. That form is
//! little-endian, as on almost all machines.

use std::borrow::Cow;
use std::ops::Range;

use bytes::Bytes;

use crate::message::Message;

/// A reduction of the numbers at the same place of all processes' arrays.
///
/// Sums and products of integers wrap around. If an operand is not a number, neither is the result,
/// which is always [`f64::NAN`] or [`f32::NAN`]. Of equal zeros, [`Least`](Self::Least) and
/// [`Greatest`](Self::Greatest) take the earlier process's.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Reduction {
    /// The sum.
    Sum,
    /// The product.
    Product,
    /// The least number.
    Least,
    /// The greatest number.
    Greatest,
    /// The bits that are set in all; for integers only, as the next two.
    And,
    /// The bits that are set in one or more.
    Or,
    /// The bits that are set in an odd number of them.
    Xor,
}

impl Reduction {
    /// All reductions.
    pub const ALL: [Self; 7] = [
        Self::Sum,
        Self::Product,
        Self::Least,
        Self::Greatest,
        Self::And,
        Self::Or,
        Self::Xor,
    ];

    /// Returns its code between processes.
    pub fn code(self) -> u8 {
        self as u8 + 1
    }

    /// Returns its name.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Sum => "sum",
            Self::Product => "product",
            Self::Least => "least",
            Self::Greatest => "greatest",
            Self::And => "and",
            Self::Or => "or",
            Self::Xor => "exclusive or",
        }
    }
}

/// Code of a function of the program. Processes cannot tell two such functions apart.
pub const FUNCTION: u8 = u8::MAX;

/// Returns the name of the reduction with a code.
pub fn name_of_reduction(code: u8) -> &'static str {
    let known = Reduction::ALL.into_iter().find(|it| it.code() == code);
    match known {
        Some(known) => known.name(),
        None if code == FUNCTION => "function of its own",
        None => "unknown operation",
    }
}

/// A function that combines numbers with others in their wire form. The last argument says whether
/// the others come first.
pub type Named<T> = fn(&mut [T], &[u8], bool);

/// A number type for arrays: integers of 8 to 64 bits and floating-point numbers of 32 and 64 bits.
/// The trait is sealed.
pub trait Number: sealed::Element {}

mod sealed {
    use super::{Named, Reduction};

    pub trait Element: bytemuck::Pod + Send + Sync + std::fmt::Debug + PartialEq {
        /// Code of the type between processes.
        const CODE: u8;
        /// Name of the type.
        const NAME: &'static str;
        /// Converts to little-endian, and back.
        #[must_use]
        fn little_endian(self) -> Self;
        /// Returns the function of a reduction, if it is defined for these numbers.
        #[must_use]
        fn named(by: Reduction) -> Option<Named<Self>>;
    }
}

macro_rules! combines {
    ($type:ident, $of:expr) => {
        |into: &mut [$type], others: &[u8], others_first: bool| {
            let of: fn($type, $type) -> $type = $of;
            let others = others.as_chunks().0.iter();
            let pairs = into
                .iter_mut()
                .zip(others.map(|it| $type::from_le_bytes(*it)));
            match others_first {
                false => pairs.for_each(|(into, other)| *into = of(*into, other)),
                true => pairs.for_each(|(into, other)| *into = of(other, *into)),
            }
        }
    };
}

macro_rules! integers {
    ($($type:ident $code:literal)*) => {$(
        impl Number for $type {}
        impl sealed::Element for $type {
            const CODE: u8 = $code;
            const NAME: &'static str = stringify!($type);
            fn little_endian(self) -> Self {
                self.to_le()
            }
            fn named(by: Reduction) -> Option<Named<Self>> {
                Some(match by {
                    Reduction::Sum => combines!($type, $type::wrapping_add),
                    Reduction::Product => combines!($type, $type::wrapping_mul),
                    Reduction::Least => combines!($type, |a, b| a.min(b)),
                    Reduction::Greatest => combines!($type, |a, b| a.max(b)),
                    Reduction::And => combines!($type, |a, b| a & b),
                    Reduction::Or => combines!($type, |a, b| a | b),
                    Reduction::Xor => combines!($type, |a, b| a ^ b),
                })
            }
        }
    )*};
}

/// The bits of a NaN differ by machine and by the order of operands. So all results get the same
/// one.
macro_rules! one_nan {
    ($type:ident, $value:expr) => {{
        let value: $type = $value;
        if value.is_nan() { $type::NAN } else { value }
    }};
}

macro_rules! floats {
    ($($type:ident $code:literal)*) => {$(
        impl Number for $type {}
        impl sealed::Element for $type {
            const CODE: u8 = $code;
            const NAME: &'static str = stringify!($type);
            fn little_endian(self) -> Self {
                Self::from_bits(self.to_bits().to_le())
            }
            fn named(by: Reduction) -> Option<Named<Self>> {
                Some(match by {
                    Reduction::Sum => combines!($type, |a, b| one_nan!($type, a + b)),
                    Reduction::Product => combines!($type, |a, b| one_nan!($type, a * b)),
                    Reduction::Least => combines!($type, |a, b| one_nan!($type, if b < a || b.is_nan() { b } else { a })),
                    Reduction::Greatest => combines!($type, |a, b| one_nan!($type, if b > a || b.is_nan() { b } else { a })),
                    Reduction::And | Reduction::Or | Reduction::Xor => return None,
                })
            }
        }
    )*};
}

integers!(i8 1 i16 2 i32 3 i64 4 u8 5 u16 6 u32 7 u64 8);
floats!(f32 9 f64 10);

/// Returns the name of the type with a code.
pub fn name_of_type(code: u8) -> &'static str {
    const NAMES: [&str; 10] = [
        "i8", "i16", "i32", "i64", "u8", "u16", "u32", "u64", "f32", "f64",
    ];
    let at = usize::from(code).checked_sub(1);
    at.and_then(|at| NAMES.get(at))
        .copied()
        .unwrap_or("an unknown type")
}

/// Returns numbers in their wire form. On a little-endian machine they are only copied.
pub fn to_wire<T: Number>(numbers: &[T]) -> Bytes {
    Bytes::copy_from_slice(bytemuck::cast_slice(&on_wire(numbers)))
}

fn on_wire<T: Number>(numbers: &[T]) -> Cow<'_, [T]> {
    match cfg!(target_endian = "little") {
        true => Cow::Borrowed(numbers),
        false => numbers.iter().map(|it| it.little_endian()).collect(),
    }
}

/// Reads numbers from their wire form; the message has as many bytes as `into`.
pub fn from_wire<T: Number>(came: &Message, into: &mut [T]) {
    let bytes: &mut [u8] = bytemuck::cast_slice_mut(into);
    let _ = came.look_into(bytes);
    if cfg!(target_endian = "big") {
        into.iter_mut().for_each(|it| *it = it.little_endian());
    }
}

/// Combines numbers with received ones, wherever the message's pieces are cut.
pub fn combine_wire<T: Number>(
    named: Named<T>,
    into: &mut [T],
    came: &Message,
    others_first: bool,
) {
    let mut done = 0;
    in_whole_numbers(came, size_of::<T>(), |bytes| {
        let count = bytes.len() / size_of::<T>();
        let Range { start, end } = done..(done + count).min(into.len());
        named(&mut into[start..end], bytes, others_first);
        done = end;
    });
}

/// Calls `act` with runs of whole numbers in a message, in order.
fn in_whole_numbers(came: &Message, size: usize, mut act: impl FnMut(&[u8])) {
    let (mut cut, mut have) = ([0; 8], 0);
    for mut piece in came.slices() {
        if have > 0 {
            let take = (size - have).min(piece.len());
            cut[have..have + take].copy_from_slice(&piece[..take]);
            piece = &piece[take..];
            have += take;
            if have < size {
                continue;
            }
            act(&cut[..size]);
        }
        let (whole, rest) = piece.split_at(piece.len() / size * size);
        act(whole);
        cut[..rest.len()].copy_from_slice(rest);
        have = rest.len();
    }
}

#[cfg(test)]
mod tests {
    use super::sealed::Element;
    use super::*;

    fn in_pieces(bytes: &[u8], length: usize) -> Message {
        let mut message = Message::new();
        let pieces = bytes.chunks(length).map(Bytes::copy_from_slice);
        pieces.for_each(|piece| message.append_bytes(piece));
        message
    }

    #[test]
    fn numbers_are_found_wherever_pieces_are_cut() {
        let ours: Vec<i64> = (0..40).map(|at| at * 0x0102_0304_0506).collect();
        let theirs: Vec<i64> = ours.iter().map(|it| !it).collect();
        let bytes = to_wire(&theirs);
        assert_eq!(bytes[..8], theirs[0].to_le_bytes());
        for length in [1, 3, 7, 8, 9, 24, 1000] {
            let came = in_pieces(&bytes, length);
            let mut sums = ours.clone();
            combine_wire(i64::named(Reduction::Sum).unwrap(), &mut sums, &came, false);
            assert!(sums.iter().all(|sum| *sum == -1));
            let mut back = vec![0; 40];
            from_wire(&came, &mut back);
            assert_eq!(back, theirs);
        }
    }

    fn of<T: Number>(by: Reduction, a: T, b: T) -> T {
        let mut into = [a];
        (T::named(by).unwrap())(&mut into, &to_wire(&[b]), false);
        let mut swapped = [b];
        (T::named(by).unwrap())(&mut swapped, &to_wire(&[a]), true);
        assert_eq!(
            bytemuck::bytes_of(&into),
            bytemuck::bytes_of(&swapped),
            "{by:?}"
        );
        into[0]
    }

    #[test]
    fn each_reduction_is_what_it_says() {
        use Reduction::*;
        let ints = Reduction::ALL.map(|by| of(by, i8::MIN, 100));
        assert_eq!(ints, [-28, 0, -128, 100, 0, -28, -28]);
        let floats = [Sum, Product, Least, Greatest].map(|by| of(by, -1.5f64, 4.0));
        assert_eq!(floats, [2.5, -6.0, -1.5, 4.0]);
        assert!([And, Or, Xor].iter().all(|by| f32::named(*by).is_none()));
    }

    #[test]
    fn what_is_not_a_number_has_the_same_bits_whoever_has_it() {
        let odd = f64::from_bits(f64::NAN.to_bits() ^ 1 << 63 | 5);
        for by in &Reduction::ALL[..4] {
            for (a, b) in [(odd, 1.0), (1.0, odd), (odd, f64::NAN)] {
                assert_eq!(of(*by, a, b).to_bits(), f64::NAN.to_bits());
            }
        }
        assert_eq!(of(Reduction::Least, 0.0f64, -0.0).to_bits(), 0);
        assert_eq!(of(Reduction::Greatest, -0.0, 0.0f32).to_bits(), 1 << 31);
    }

    #[test]
    fn codes_have_the_names_of_their_types() {
        fn has_name<T: Number>() {
            assert_eq!(name_of_type(T::CODE), T::NAME);
            assert_eq!(T::NAME, std::any::type_name::<T>());
        }
        has_name::<i8>();
        has_name::<i16>();
        has_name::<i32>();
        has_name::<i64>();
        has_name::<u8>();
        has_name::<u16>();
        has_name::<u32>();
        has_name::<u64>();
        has_name::<f32>();
        has_name::<f64>();
        assert_eq!(name_of_type(0), name_of_type(11));
    }
}
