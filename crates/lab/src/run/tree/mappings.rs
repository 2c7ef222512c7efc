//! Private writable memory of a process, mapping by mapping.

use std::fs;
use std::ops::Range;

/// A private mapping that may be written: one that was reserved only (`PROT_NONE`) is none.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::run) struct Mapping {
    pub(in crate::run) process: i32,
    pub(in crate::run) addresses: Range<u64>,
    /// The part of it that is in memory.
    pub(in crate::run) pss_bytes: u64,
}

/// Returns the mappings of a process; none if the kernel does not tell.
pub(super) fn of(process: i32) -> Vec<Mapping> {
    let text = fs::read_to_string(format!("/proc/{process}/smaps")).unwrap_or_default();
    read(process, &text)
}

fn read(process: i32, smaps: &str) -> Vec<Mapping> {
    let mut all = Vec::new();
    let mut last: Option<Mapping> = None;
    for line in smaps.lines() {
        if let Some(pss_kib) = super::field(line, "Pss:") {
            // This line belongs to the last named mapping, which is `None` if that one does not
            // count.
            all.extend(last.take().map(|mapping| Mapping {
                pss_bytes: pss_kib * 1024,
                ..mapping
            }));
        } else if let Some(addresses) = head(line) {
            last = addresses.map(|addresses| Mapping {
                process,
                addresses,
                pss_bytes: 0,
            });
        }
    }
    all
}

/// Parses the first line of a mapping, such as `7f3a00000000-7f3a00400000 rw-p 00000000 00:00 0`.
///
/// Returns the addresses, `Some(None)` if the memory is not private and writable, and `None` for
/// any other line.
fn head(line: &str) -> Option<Option<Range<u64>>> {
    let mut words = line.split_ascii_whitespace();
    let (from, to) = words.next()?.split_once('-')?;
    let address = |text| u64::from_str_radix(text, 16).ok();
    let addresses = address(from)?..address(to)?;
    let may = words.next()?.as_bytes();
    let is_own = may.get(1) == Some(&b'w') && may.get(3) == Some(&b'p');
    Some(is_own.then_some(addresses))
}

#[cfg(test)]
mod tests {
    use super::*;

    const SMAPS: &str = "\
5560d1f41000-5560d1f43000 r--p 00000000 fe:00 247026                     /usr/bin/cat
Size:                  8 kB
Rss:                   8 kB
Pss:                   2 kB
Pss_Dirty:             0 kB
VmFlags: rd mr mw me
7f0000000000-7f0000400000 rw-p 00000000 00:00 0
Size:               4096 kB
Rss:                 100 kB
Pss:                 100 kB
Pss_Dirty:           100 kB
7f0000400000-7f0004000000 ---p 00000000 00:00 0
Pss:                   0 kB
7f1000000000-7f1000001000 rw-s 00000000 00:01 5                          /memfd:shared
Pss:                   4 kB
";

    #[test]
    fn what_is_written_and_not_shared_counts() {
        let mapping = Mapping {
            process: 7,
            addresses: 0x7f00_0000_0000..0x7f00_0040_0000,
            pss_bytes: 100 << 10,
        };
        assert_eq!(read(7, SMAPS), [mapping]);
        assert!(read(7, "Pss: 4 kB\nno mapping\n12-zz rw-p\n").is_empty());
    }

    #[test]
    fn our_own_memory_is_found() {
        let own = vec![1_u8; 1 << 20];
        let at = own.as_ptr() as u64;
        let all = of(std::process::id() as i32);
        let holds = |mapping: &&Mapping| mapping.addresses.contains(&at);
        let found = all.iter().find(holds).unwrap();
        assert!(found.pss_bytes >= 1 << 20, "{found:?}");
    }
}
