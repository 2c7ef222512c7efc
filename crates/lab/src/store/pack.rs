//! Packed numbers for the store: unsigned LEB128, differences in zigzag form. A slice takes some 20
//! bytes, a clock reading one.

use antiphon_measure::{ClockGap, LatencySample, Role, Slice};
use std::collections::HashMap;

/// Bytes being written.
#[derive(Default)]
struct Writer(Vec<u8>);

impl Writer {
    fn unsigned(&mut self, mut value: u64) {
        while value >= 0x80 {
            self.0.push(value as u8 | 0x80);
            value >>= 7;
        }
        self.0.push(value as u8);
    }

    /// Writes `value` as its wrapping distance from `before`: exact for any two numbers.
    fn step(&mut self, before: u64, value: u64) {
        let distance = value.wrapping_sub(before) as i64;
        self.unsigned(((distance << 1) ^ (distance >> 63)) as u64);
    }

    fn optional(&mut self, value: Option<u64>) {
        match value {
            None => self.unsigned(0),
            Some(value) => {
                self.unsigned(1);
                self.unsigned(value);
            }
        }
    }
}

/// Bytes being read.
struct Reader<'b>(&'b [u8]);

type Packed<T> = Result<T, String>;

impl Reader<'_> {
    fn unsigned(&mut self) -> Packed<u64> {
        let mut value = 0u64;
        for shift in (0..64).step_by(7) {
            let (byte, rest) = self.0.split_first().ok_or("the numbers break off")?;
            self.0 = rest;
            value |= u64::from(byte & 0x7f) << shift;
            if byte & 0x80 == 0 {
                return Ok(value);
            }
        }
        Err("a number is too long".to_owned())
    }

    fn step(&mut self, before: u64) -> Packed<u64> {
        let zigzag = self.unsigned()?;
        let distance = (zigzag >> 1) ^ (zigzag & 1).wrapping_neg();
        Ok(before.wrapping_add(distance))
    }

    fn optional(&mut self) -> Packed<Option<u64>> {
        match self.unsigned()? {
            0 => Ok(None),
            _ => self.unsigned().map(Some),
        }
    }

    fn small(&mut self) -> Packed<u32> {
        u32::try_from(self.unsigned()?).map_err(|_| "a number is too large".to_owned())
    }
}

/// Last slice of each role, the base of differences.
#[derive(Default)]
struct Before {
    start_ns: u64,
    of_role: HashMap<Role, (u64, u64, u64)>,
}

pub(super) fn slices(slices: &[Slice]) -> Vec<u8> {
    let mut out = Writer::default();
    let mut before = Before::default();
    out.unsigned(slices.len() as u64);
    for slice in slices {
        let (iterations, elapsed, checksum) =
            before.of_role.get(&slice.role).copied().unwrap_or_default();
        out.unsigned(u64::from(slice.block));
        out.unsigned(role_number(slice.role));
        out.step(iterations, slice.iterations);
        out.step(before.start_ns, slice.start_ns);
        out.step(elapsed, slice.elapsed_ns);
        for count in [
            slice.voluntary,
            slice.involuntary,
            slice.minor_faults,
            slice.major_faults,
        ] {
            out.unsigned(count);
        }
        out.optional(slice.wait_ns);
        out.optional(slice.processor.map(u64::from));
        out.step(checksum, slice.checksum);
        before.start_ns = slice.start_ns;
        let now = (slice.iterations, slice.elapsed_ns, slice.checksum);
        before.of_role.insert(slice.role, now);
    }
    out.0
}

pub(super) fn unpack_slices(bytes: &[u8]) -> Packed<Vec<Slice>> {
    let mut reader = Reader(bytes);
    let mut before = Before::default();
    let count = reader.unsigned()?;
    let mut slices = Vec::new();
    for _ in 0..count {
        slices.push(unpack_slice(&mut reader, &mut before)?);
    }
    Ok(slices)
}

fn unpack_slice(reader: &mut Reader<'_>, before: &mut Before) -> Packed<Slice> {
    let block = reader.small()?;
    let role = role_of(reader.unsigned()?)?;
    let (iterations, elapsed, checksum) = before.of_role.get(&role).copied().unwrap_or_default();
    let slice = Slice {
        block,
        role,
        iterations: reader.step(iterations)?,
        start_ns: reader.step(before.start_ns)?,
        elapsed_ns: reader.step(elapsed)?,
        voluntary: reader.unsigned()?,
        involuntary: reader.unsigned()?,
        minor_faults: reader.unsigned()?,
        major_faults: reader.unsigned()?,
        wait_ns: reader.optional()?,
        processor: match reader.optional()? {
            None => None,
            Some(processor) => Some(u32::try_from(processor).map_err(|_| "a number is too large")?),
        },
        checksum: reader.step(checksum)?,
    };
    before.start_ns = slice.start_ns;
    before
        .of_role
        .insert(role, (slice.iterations, slice.elapsed_ns, slice.checksum));
    Ok(slice)
}

fn role_number(role: Role) -> u64 {
    match role {
        Role::Control => 0,
        Role::Test => 1,
        Role::Reference => 2,
    }
}

fn role_of(number: u64) -> Packed<Role> {
    match number {
        0 => Ok(Role::Control),
        1 => Ok(Role::Test),
        2 => Ok(Role::Reference),
        _ => Err(format!("there is no role {number}")),
    }
}

/// Packs readings, which may be negative, as their differences.
pub(super) fn signed(signed: &[i64]) -> Vec<u8> {
    readings(
        &signed
            .iter()
            .map(|reading| *reading as u64)
            .collect::<Vec<_>>(),
    )
}

pub(super) fn unpack_signed(bytes: &[u8]) -> Packed<Vec<i64>> {
    let unsigned = unpack_readings(bytes)?;
    Ok(unsigned.into_iter().map(|reading| reading as i64).collect())
}

fn readings(readings: &[u64]) -> Vec<u8> {
    let mut out = Writer::default();
    out.unsigned(readings.len() as u64);
    let mut before = 0;
    for &reading in readings {
        out.step(before, reading);
        before = reading;
    }
    out.0
}

fn unpack_readings(bytes: &[u8]) -> Packed<Vec<u64>> {
    let mut reader = Reader(bytes);
    let mut before = 0;
    let mut readings = Vec::new();
    for _ in 0..reader.unsigned()? {
        before = reader.step(before)?;
        readings.push(before);
    }
    Ok(readings)
}

/// Packs gaps: the start and the end of each, as readings.
pub(super) fn gaps(gaps: &[ClockGap]) -> Vec<u8> {
    let ends = |gap: &ClockGap| [gap.start_ns, gap.start_ns.wrapping_add(gap.duration_ns)];
    readings(&gaps.iter().flat_map(ends).collect::<Vec<_>>())
}

pub(super) fn unpack_gaps(bytes: &[u8]) -> Packed<Vec<ClockGap>> {
    let ends = unpack_readings(bytes)?;
    let gap = |ends: &[u64]| ClockGap {
        start_ns: ends[0],
        duration_ns: ends[1].wrapping_sub(ends[0]),
    };
    Ok(ends.chunks_exact(2).map(gap).collect())
}

pub(super) fn samples(samples: &[LatencySample]) -> Vec<u8> {
    let times = |sample: &LatencySample| [sample.intended_ns, sample.actual_ns, sample.end_ns];
    readings(&samples.iter().flat_map(times).collect::<Vec<_>>())
}

pub(super) fn unpack_samples(bytes: &[u8]) -> Packed<Vec<LatencySample>> {
    let times = unpack_readings(bytes)?;
    let sample = |times: &[u64]| LatencySample {
        intended_ns: times[0],
        actual_ns: times[1],
        end_ns: times[2],
    };
    Ok(times.chunks_exact(3).map(sample).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn any_slice() -> impl Strategy<Value = Slice> {
        let role = prop_oneof![Just(Role::Control), Just(Role::Test), Just(Role::Reference)];
        let numbers = proptest::array::uniform8(any::<u64>());
        (
            any::<u32>(),
            role,
            numbers,
            any::<Option<u64>>(),
            any::<Option<u32>>(),
        )
            .prop_map(|(block, role, numbers, wait_ns, processor)| Slice {
                block,
                role,
                iterations: numbers[0],
                start_ns: numbers[1],
                elapsed_ns: numbers[2],
                voluntary: numbers[3],
                involuntary: numbers[4],
                minor_faults: numbers[5],
                major_faults: numbers[6],
                wait_ns,
                processor,
                checksum: numbers[7],
            })
    }

    proptest! {
        #[test]
        fn slices_come_back_as_they_were(given in proptest::collection::vec(any_slice(), 0..20)) {
            prop_assert_eq!(unpack_slices(&slices(&given)).unwrap(), given);
        }

        #[test]
        fn readings_come_back_as_they_were(given in proptest::collection::vec(any::<u64>(), 0..50)) {
            prop_assert_eq!(unpack_readings(&readings(&given)).unwrap(), given);
        }

        #[test]
        fn gaps_come_back_as_they_were(given in proptest::collection::vec(any::<(u64, u64)>(), 0..50)) {
            let given: Vec<ClockGap> = given
                .into_iter()
                .map(|(start_ns, duration_ns)| ClockGap { start_ns, duration_ns })
                .collect();
            prop_assert_eq!(unpack_gaps(&gaps(&given)).unwrap(), given);
        }

        #[test]
        fn damaged_bytes_are_refused_or_read_but_never_panic(bytes in proptest::collection::vec(any::<u8>(), 0..60)) {
            let _ = unpack_slices(&bytes);
            let _ = unpack_samples(&bytes);
        }
    }

    #[test]
    fn a_steady_series_takes_a_byte_a_reading() {
        let steady: Vec<u64> = (0..1000).map(|index| 81_263_541 + index * 25).collect();
        assert!(readings(&steady).len() < 1010);
    }
}
