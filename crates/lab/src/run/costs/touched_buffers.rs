//! Memory that a subject reserves at once and touches bit by bit, such as a driver's buffer. It
//! grows without a leak.

use crate::run::tree::Mapping;

/// Largest mapping that counts as a buffer. A leak may fill a larger arena for as long as a run
/// lasts.
const BUFFER_MOST: u64 = 16 << 20;

/// Returns the growth at each reading, against the first, of mappings that exist unchanged from
/// first to last reading.
///
/// This is memory that was reserved before. The sum is bounded, because each mapping is a buffer in
/// size and fills only once.
pub(super) fn touched_buffers(readings: &[&[Mapping]]) -> Vec<u64> {
    let (Some(first), Some(last)) = (readings.first(), readings.last()) else {
        return Vec::new();
    };
    let stays = |mapping: &&Mapping| {
        let size = mapping
            .addresses
            .end
            .saturating_sub(mapping.addresses.start);
        size <= BUFFER_MOST && held(last, mapping).is_some()
    };
    let buffers: Vec<&Mapping> = first.iter().filter(stays).collect();
    let more = |reading: &[Mapping]| -> u64 {
        let grown = buffers
            .iter()
            .filter_map(|buffer| Some(held(reading, buffer)?.saturating_sub(buffer.pss_bytes)));
        grown.sum()
    };
    readings.iter().map(|reading| more(reading)).collect()
}

/// Returns the memory of a mapping at a reading; `None` if no mapping has these addresses.
fn held(reading: &[Mapping], of: &Mapping) -> Option<u64> {
    let same = |other: &&Mapping| (other.process, &other.addresses) == (of.process, &of.addresses);
    Some(reading.iter().find(same)?.pss_bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    const MIB: u64 = 1 << 20;

    fn mapping(at: u64, size: u64, pss_bytes: u64) -> Mapping {
        Mapping {
            process: 1,
            addresses: at..at + size,
            pss_bytes,
        }
    }

    fn of(readings: &[Vec<Mapping>]) -> Vec<u64> {
        let readings: Vec<&[Mapping]> = readings.iter().map(Vec::as_slice).collect();
        touched_buffers(&readings)
    }

    #[test]
    fn a_buffer_is_gone_through() {
        let at = |pss| vec![mapping(0, 4 * MIB, pss), mapping(9 * MIB, MIB, 0)];
        assert_eq!(of(&[at(5), at(7), at(4), at(9)]), [0, 2, 0, 4]);
        assert!(of(&[]).is_empty());
    }

    #[test]
    fn what_grows_or_is_new_is_none_and_no_more_is_an_arena() {
        // A heap whose end moved, though only the last time; memory mapped since; and an arena.
        let grown = [
            vec![mapping(0, MIB, 1)],
            vec![mapping(0, MIB, 9)],
            vec![mapping(0, 2 * MIB, 99)],
        ];
        assert_eq!(of(&grown), [0, 0, 0]);
        assert_eq!(of(&[vec![], vec![mapping(0, MIB, 9)]]), [0, 0]);
        let arena = |pss| vec![mapping(0, 64 * MIB, pss)];
        assert_eq!(of(&[arena(1), arena(MIB)]), [0, 0]);
        // The same addresses of another process are other memory.
        let mut other = mapping(0, MIB, 9);
        other.process = 2;
        assert_eq!(of(&[vec![mapping(0, MIB, 1)], vec![other]]), [0, 0]);
    }
}
