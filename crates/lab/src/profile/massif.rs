//! The heap over a process's life, as massif writes it.

use serde::Serialize;

/// The heap from start to end.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Heap {
    /// Snapshots in order of time; massif keeps at most a hundred, closer together where the heap
    /// grows.
    pub snapshots: Vec<Snapshot>,
}

/// The heap at one moment.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Snapshot {
    /// Instructions since the start.
    pub instructions: u64,
    /// Bytes that the program requested.
    pub heap_bytes: u64,
    /// Bytes that the allocator adds: headers and padding.
    pub extra_bytes: u64,
    /// Holders of memory, the largest first; those below a thousandth are left out.
    pub sites: Vec<Site>,
}

/// A place in the program that allocates.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Site {
    /// Bytes that the site holds.
    pub bytes: u64,
    /// The function with file and line, as valgrind names it.
    pub place: String,
    /// Its callers, the nearest first, each time the one that holds most.
    pub callers: Vec<String>,
}

/// Number of callers kept for each site.
const CALLERS: usize = 4;

impl Snapshot {
    /// Returns the size of the whole heap in bytes.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.heap_bytes + self.extra_bytes
    }
}

impl Heap {
    /// Reads massif's file.
    ///
    /// # Errors
    /// The line that is none of massif's.
    pub(super) fn read(text: &str) -> Result<Heap, String> {
        let mut snapshots = Vec::new();
        let mut lines = text.lines().peekable();
        while let Some(line) = lines.next() {
            if !line.starts_with("snapshot=") {
                continue;
            }
            let mut snapshot = Snapshot::default();
            while let Some(line) = lines.next_if(|line| !line.starts_with("snapshot=")) {
                let of = |name| line.strip_prefix(name).map(|value| number(value, line));
                if let Some(value) = of("time=") {
                    snapshot.instructions = value?;
                } else if let Some(value) = of("mem_heap_B=") {
                    snapshot.heap_bytes = value?;
                } else if let Some(value) = of("mem_heap_extra_B=") {
                    snapshot.extra_bytes = value?;
                } else if let Some(node) = Node::read(line)? {
                    node.note(&mut snapshot.sites);
                }
            }
            snapshots.push(snapshot);
        }
        match snapshots.is_empty() {
            true => Err("it holds no snapshot".into()),
            false => Ok(Heap { snapshots }),
        }
    }

    /// Returns the snapshot with the largest heap.
    #[must_use]
    pub fn peak(&self) -> &Snapshot {
        let largest = self
            .snapshots
            .iter()
            .max_by_key(|snapshot| snapshot.bytes());
        largest.expect("what was read has a snapshot")
    }
}

/// A line of a snapshot's tree: `  n1: 5000 0x1091C5: big (a.c:3)`, indented by its depth.
struct Node<'a> {
    depth: usize,
    bytes: u64,
    /// `None` for an omitted place, and for the root.
    place: Option<&'a str>,
}

impl<'a> Node<'a> {
    /// Parses a line of the heap tree; `None` if the line is something else.
    fn read(line: &'a str) -> Result<Option<Self>, String> {
        let text = line.trim_start_matches(' ');
        let Some((children, rest)) = text
            .strip_prefix('n')
            .and_then(|text| text.split_once(": "))
        else {
            return Ok(None);
        };
        if !children.bytes().all(|byte| byte.is_ascii_digit()) {
            return Ok(None);
        }
        let (bytes, what) = rest.split_once(' ').unwrap_or((rest, ""));
        let place = what
            .strip_prefix("0x")
            .and_then(|what| what.split_once(": "))
            .map(|(_, place)| place);
        Ok(Some(Node {
            depth: line.len() - text.len(),
            bytes: number(bytes, line)?,
            place,
        }))
    }

    /// Adds the node to the sites of its snapshot. Parents precede their children, and the largest
    /// child comes first. A site's first caller at each depth is therefore the one that holds most.
    fn note(&self, sites: &mut Vec<Site>) {
        let Some(place) = self.place else { return };
        if self.depth == 1 {
            return Self::add(sites, place, self.bytes);
        }
        if let Some(site) = sites.last_mut()
            && site.callers.len() + 2 == self.depth
            && site.callers.len() < CALLERS
        {
            site.callers.push(place.to_owned());
        }
    }

    fn add(sites: &mut Vec<Site>, place: &str, bytes: u64) {
        sites.push(Site {
            bytes,
            place: place.to_owned(),
            callers: Vec::new(),
        });
    }
}

fn number(text: &str, line: &str) -> Result<u64, String> {
    text.parse()
        .map_err(|_| format!("a number is missing in the line `{line}`"))
}

#[cfg(test)]
mod tests {
    use super::Heap;

    const TWO: &str = "desc: (none)\ncmd: ./a\ntime_unit: i\n#-----------\nsnapshot=0\n#-----------\ntime=0\nmem_heap_B=0\nmem_heap_extra_B=0\n\
        mem_stacks_B=0\nheap_tree=empty\n#-----------\nsnapshot=1\n#-----------\ntime=90\nmem_heap_B=700\nmem_heap_extra_B=8\nmem_stacks_B=0\nheap_tree=peak\n\
        n3: 700 (heap allocation functions) malloc/new/new[], --alloc-fns, etc.\n n2: 500 0x1: big (a.c:3)\n  n1: 400 0x2: outer (a.c:9)\n   n0: 400 0x3: main (a.c:20)\n  \
        n0: 100 0x4: other (a.c:12)\n n0: 150 0x5: small: part (a.c:4)\n n0: 50 in 2 places, all below massif's threshold (10.00%)\n";

    #[test]
    fn reads_snapshots_with_their_sites() {
        let heap = Heap::read(TWO).unwrap();
        assert_eq!(heap.snapshots.len(), 2);
        let peak = heap.peak();
        assert_eq!((peak.instructions, peak.bytes()), (90, 708));
        let sites: Vec<_> = peak
            .sites
            .iter()
            .map(|s| (s.place.as_str(), s.bytes))
            .collect();
        assert_eq!(sites, [("big (a.c:3)", 500), ("small: part (a.c:4)", 150)]);
        assert_eq!(peak.sites[0].callers, ["outer (a.c:9)", "main (a.c:20)"]);
    }

    #[test]
    fn names_the_line_that_is_none_of_massifs() {
        assert!(Heap::read("").unwrap_err().contains("no snapshot"));
        let broken = TWO.replace("time=90", "time=soon");
        assert!(Heap::read(&broken).unwrap_err().contains("`time=soon`"));
    }
}
