//! Numbers: their texts, their conversions, powers, logarithms, and random ones.

use std::ffi::{c_char, c_void};

use parking_lot::Mutex;

use crate::errors::abort;
use crate::layout::{At, Text};
use crate::{flavour, format, options};

/// Reads an integer in decimal, octal (`17q`) or hexadecimal (`0ffx`) with optional blanks around
/// it; none for another text. It wraps.
pub fn parse_int(text: &[u8]) -> Option<i32> {
    let text = text.trim_ascii();
    let (is_negative, digits) = match text {
        [b'-', rest @ ..] => (true, rest),
        [b'+', rest @ ..] => (false, rest),
        _ => (false, text),
    };
    let (radix, digits) = match digits {
        [rest @ .., b'x' | b'X'] => (16, rest),
        [rest @ .., b'q' | b'Q'] => (8, rest),
        _ => (10, digits),
    };
    if digits.is_empty() {
        return None;
    }
    let mut value = 0_u64;
    for &digit in digits {
        let digit = char::from(digit).to_digit(radix)?;
        value = value
            .wrapping_mul(u64::from(radix))
            .wrapping_add(u64::from(digit));
    }
    let value = if is_negative {
        value.wrapping_neg()
    } else {
        value
    };
    Some(value as i32)
}

/// Reads a real as the C library does, with optional blanks around it.
pub fn parse_real(text: &[u8]) -> Option<f64> {
    let mut text = text.trim_ascii().to_vec();
    if text.is_empty() || text.contains(&0) {
        return None;
    }
    text.push(0);
    let mut end: *mut c_char = std::ptr::null_mut();
    // SAFETY: a text that ends with a zero; `end` is set into it.
    let (value, read) = unsafe {
        let value = libc::strtod(text.as_ptr().cast(), &mut end);
        (value, end.offset_from(text.as_ptr().cast()))
    };
    (read as usize == text.len() - 1).then_some(value)
}

/// Reads true, false, t or f, in any case, with optional blanks around it.
pub fn parse_bool(text: &[u8]) -> Option<bool> {
    match text.trim_ascii().to_ascii_lowercase().as_slice() {
        b"true" | b"t" => Some(true),
        b"false" | b"f" => Some(false),
        _ => None,
    }
}

/// Reads a pointer as it is printed: `==null==`, or hexadecimal digits.
pub fn parse_pointer(text: &[u8]) -> Option<usize> {
    let text = text.trim_ascii();
    if text == b"==null==" {
        return Some(0);
    }
    let text = std::str::from_utf8(text).ok()?;
    usize::from_str_radix(text.trim_end_matches(['x', 'X']), 16).ok()
}

fn illegal(at: At, ty: &str, text: Text) -> ! {
    // SAFETY: a text of the contract.
    let text = String::from_utf8_lossy(unsafe { text.bytes() });
    let shown: String = if text.chars().count() <= 25 {
        text.into_owned()
    } else {
        text.chars().take(20).chain("...".chars()).collect()
    };
    abort(at, &format!("illegal conversion: {ty}(\"{shown}\")"))
}

#[unsafe(no_mangle)]
unsafe extern "C" fn sr_int_of_text(at: At, text: Text) -> i32 {
    let _busy = flavour::busy();
    // SAFETY: a text of the contract.
    parse_int(unsafe { text.bytes() }).unwrap_or_else(|| illegal(at, "int", text))
}

#[unsafe(no_mangle)]
unsafe extern "C" fn sr_real_of_text(at: At, text: Text) -> f64 {
    let _busy = flavour::busy();
    // SAFETY: a text of the contract.
    parse_real(unsafe { text.bytes() }).unwrap_or_else(|| illegal(at, "real", text))
}

#[unsafe(no_mangle)]
unsafe extern "C" fn sr_bool_of_text(at: At, text: Text) -> bool {
    let _busy = flavour::busy();
    // SAFETY: a text of the contract.
    parse_bool(unsafe { text.bytes() }).unwrap_or_else(|| illegal(at, "bool", text))
}

/// Returns the first character that is not a blank, or zero.
#[unsafe(no_mangle)]
unsafe extern "C" fn sr_char_of_text(text: Text) -> u8 {
    // SAFETY: a text of the contract.
    let bytes = unsafe { text.bytes() };
    bytes.trim_ascii_start().first().copied().unwrap_or(0)
}

#[unsafe(no_mangle)]
unsafe extern "C" fn sr_pointer_of_text(at: At, text: Text) -> *mut c_void {
    let _busy = flavour::busy();
    // SAFETY: a text of the contract.
    let address = parse_pointer(unsafe { text.bytes() });
    address.unwrap_or_else(|| illegal(at, "ptr", text)) as *mut c_void
}

/// Copies a text to a buffer of 32 bytes. Returns its length.
unsafe fn put(buffer: *mut u8, text: &[u8]) -> i32 {
    let length = text.len().min(32);
    // SAFETY: the callers pass a buffer of 32 bytes.
    unsafe { std::ptr::copy_nonoverlapping(text.as_ptr(), buffer, length) };
    length as i32
}

#[unsafe(no_mangle)]
unsafe extern "C" fn sr_format_int(buffer: *mut u8, value: i32) -> i32 {
    let mut digits = [0_u8; 12];
    let mut rest = value.unsigned_abs();
    let mut start = digits.len();
    loop {
        start -= 1;
        digits[start] = b'0' + (rest % 10) as u8;
        rest /= 10;
        if rest == 0 {
            break;
        }
    }
    if value < 0 {
        start -= 1;
        digits[start] = b'-';
    }
    // SAFETY: generated code passes a buffer of 32 bytes.
    unsafe { put(buffer, &digits[start..]) }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn sr_format_real(buffer: *mut u8, value: f64) -> i32 {
    let _busy = flavour::busy();
    // SAFETY: `%#g` has 13 characters at most.
    unsafe { libc::snprintf(buffer.cast(), 32, c"%#g".as_ptr(), value) }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn sr_format_pointer(buffer: *mut u8, value: *const c_void) -> i32 {
    let _busy = flavour::busy();
    // SAFETY: generated code passes a buffer of 32 bytes.
    unsafe { put(buffer, &format::pointer(value)) }
}

#[unsafe(no_mangle)]
extern "C" fn sr_power_int(at: At, base: i32, exponent: i32) -> i32 {
    if exponent < 0 {
        abort(at, "i**j with j<0");
    }
    if base == 0 && exponent == 0 {
        abort(at, "0**i with i<=0");
    }
    base.wrapping_pow(exponent as u32)
}

#[unsafe(no_mangle)]
extern "C" fn sr_power_real_int(at: At, base: f64, exponent: i32) -> f64 {
    if base == 0.0 && exponent <= 0 {
        abort(at, "0.0**i with i<=0");
    }
    let (mut term, mut result) = (base, 1.0);
    let mut bits = exponent.unsigned_abs();
    while bits > 0 {
        if bits & 1 == 1 {
            result *= term;
        }
        term *= term;
        bits >>= 1;
    }
    if exponent >= 0 { result } else { 1.0 / result }
}

#[unsafe(no_mangle)]
extern "C" fn sr_power_real(at: At, base: f64, exponent: f64) -> f64 {
    if base == 0.0 && exponent <= 0.0 {
        abort(at, "0.0**y with y<=0");
    }
    if base < 0.0 && exponent.ceil() != exponent {
        abort(at, "x**y with x<0 and y not an integer");
    }
    base.powf(exponent)
}

#[unsafe(no_mangle)]
extern "C" fn sr_round(x: f64) -> f64 {
    x.round_ties_even()
}

#[unsafe(no_mangle)]
extern "C" fn sr_sqrt(at: At, x: f64) -> f64 {
    if x < 0.0 {
        abort(at, &format!("sqrt({x}) of a negative number"));
    }
    x.sqrt()
}

#[unsafe(no_mangle)]
extern "C" fn sr_log(at: At, x: f64) -> f64 {
    if x <= 0.0 {
        abort(at, &format!("log({x}) of a number that is not positive"));
    }
    x.ln()
}

#[unsafe(no_mangle)]
extern "C" fn sr_log_base(at: At, x: f64, base: f64) -> f64 {
    if x <= 0.0 || base <= 0.0 {
        abort(
            at,
            &format!("log({x},{base}) of a number that is not positive"),
        );
    }
    x.ln() / base.ln()
}

#[unsafe(no_mangle)]
extern "C" fn sr_exp_base(at: At, x: f64, base: f64) -> f64 {
    sr_power_real(at, base, x)
}

/// The subtractive generator of Knuth (Seminumerical Algorithms, 2nd edition, 3.2.2 and 3.6): X(n)
/// = X(n-55) - X(n-24) mod M. Modulus, seeding and warm-up are those of original SR, so seeded
/// programs draw the same numbers.
struct Random {
    history: [i32; LONG],
    place: usize,
    seeds: i32,
}

const LONG: usize = 55;
const SHORT: usize = 24;
const SPREAD: usize = 21;
const MODULUS: i32 = 1_000_000_000;

static RANDOM: Mutex<Option<Random>> = Mutex::new(None);

impl Random {
    fn unseeded() -> Random {
        let mut random = Random {
            history: [0; LONG],
            place: 0,
            seeds: 0,
        };
        random.seed(0.0);
        random
    }

    fn seed(&mut self, x: f64) {
        self.seeds = self.seeds.wrapping_add(1);
        let seed = if x == 0.0 {
            self.unpredictable()
        } else if x > -1.0 && x < 1.0 {
            (1.0 / x) as i32
        } else {
            x as i32
        };
        let mut last = (seed.unsigned_abs() % MODULUS as u32) as i32;
        self.history[0] = last;
        let mut next = 1;
        for i in 1..LONG {
            let place = SPREAD * i % LONG;
            self.history[place] = next;
            next = last - next;
            if next < 0 {
                next += MODULUS;
            }
            last = self.history[place];
        }
        self.place = 0;
        for _ in 0..5 * LONG {
            self.draw();
        }
    }

    /// Returns an unpredictable number. Under a seeded schedule it is drawn from that seed, so that
    /// the run can be repeated.
    fn unpredictable(&self) -> i32 {
        let mixed = options::get().schedule.unwrap_or_else(|| {
            let since = std::time::UNIX_EPOCH.elapsed().unwrap_or_default();
            since.as_nanos() as u64 ^ u64::from(std::process::id()).rotate_left(32)
        });
        (mixed as i32).wrapping_add(self.seeds.wrapping_mul(23347))
    }

    fn draw(&mut self) -> i32 {
        let other = (self.place + LONG - SHORT) % LONG;
        let mut value = self.history[self.place] - self.history[other];
        if value < 0 {
            value += MODULUS;
        }
        self.history[self.place] = value;
        self.place = (self.place + 1) % LONG;
        value
    }
}

#[unsafe(no_mangle)]
extern "C" fn sr_random(low: f64, high: f64) -> f64 {
    let _busy = flavour::busy();
    let drawn = RANDOM.lock().get_or_insert_with(Random::unseeded).draw();
    low + (high - low) * f64::from(drawn) * (1.0 / f64::from(MODULUS))
}

/// Starts with the seed of the options, if there is one.
pub fn begin() {
    if let Some(seed) = options::get().seed {
        sr_seed(seed);
    }
}

/// Restarts the generator with a seed.
#[unsafe(no_mangle)]
extern "C" fn sr_seed(x: f64) {
    let _busy = flavour::busy();
    RANDOM.lock().get_or_insert_with(Random::unseeded).seed(x);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn integers_have_three_notations() {
        for (text, value) in [
            ("42", Some(42)),
            (" -7 ", Some(-7)),
            ("17q", Some(15)),
            ("0ffx", Some(255)),
            ("+1", Some(1)),
            ("2147483648", Some(i32::MIN)),
            ("", None),
            ("-", None),
            ("9q", None),
            ("4 2", None),
            ("1.5", None),
        ] {
            assert_eq!(parse_int(text.as_bytes()), value, "{text}");
        }
    }

    #[test]
    fn reals_and_bools_are_read_whole() {
        assert_eq!(parse_real(b" 1.5e3 "), Some(1500.0));
        assert_eq!(parse_real(b".5"), Some(0.5));
        assert_eq!(parse_real(b"1.5x"), None);
        assert_eq!(parse_real(b""), None);
        assert_eq!(parse_bool(b" TRUE "), Some(true));
        assert_eq!(parse_bool(b"f"), Some(false));
        assert_eq!(parse_bool(b"yes"), None);
        assert_eq!(parse_pointer(b"==null=="), Some(0));
        assert_eq!(parse_pointer(b"00A0"), Some(160));
    }

    #[test]
    fn a_seed_gives_the_same_numbers_again() {
        let draw = |seed| {
            let mut random = Random::unseeded();
            random.seed(seed);
            (0..100).map(|_| random.draw()).collect::<Vec<_>>()
        };
        assert_eq!(draw(42.0), draw(42.0));
        assert_ne!(draw(42.0), draw(43.0));
        assert!(draw(0.25).iter().all(|n| (0..MODULUS).contains(n)));
    }

    #[test]
    fn integers_are_written() {
        for value in [0, 7, -1, i32::MAX, i32::MIN] {
            let mut buffer = [0_u8; 32];
            // SAFETY: a buffer of 32 bytes.
            let length = unsafe { sr_format_int(buffer.as_mut_ptr(), value) };
            assert_eq!(&buffer[..length as usize], value.to_string().as_bytes());
        }
    }
}
