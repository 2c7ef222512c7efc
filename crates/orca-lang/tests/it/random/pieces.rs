//! The text of a random program as a tree of pieces, each of which can be left out.

/// A statement or a declaration.
#[derive(Debug, Clone)]
pub struct Piece(pub Vec<Part>);

#[derive(Debug, Clone)]
pub enum Part {
    Text(String),
    Block(Vec<Piece>),
}

impl Piece {
    pub fn line(text: impl Into<String>) -> Piece {
        Piece(vec![Part::Text(text.into())])
    }

    /// Returns the length of the longest text of its own.
    pub fn longest(&self) -> usize {
        let texts = self.0.iter().map(|part| match part {
            Part::Text(text) => text.len(),
            Part::Block(_) => 0,
        });
        texts.max().unwrap_or_default()
    }

    /// Returns a block between two lines.
    pub fn around(before: impl Into<String>, block: Vec<Piece>, after: &str) -> Piece {
        Piece(vec![
            Part::Text(before.into()),
            Part::Block(block),
            Part::Text(after.into()),
        ])
    }
}

/// A program: its files, and how many of its processes are cases to run.
#[derive(Debug, Clone, Default)]
pub struct Sample {
    pub files: Vec<(String, Vec<Part>)>,
    pub cases: u32,
}

impl Sample {
    /// Returns names and texts of the files.
    pub fn texts(&self) -> Vec<(String, String)> {
        let text = |(name, parts): &(String, Vec<Part>)| {
            let mut text = String::new();
            write(parts, 0, &mut text);
            (name.clone(), text)
        };
        self.files.iter().map(text).collect()
    }

    /// Removes pieces while the program still fails.
    pub fn shrink(&mut self, fails: &mut dyn FnMut(&Sample) -> bool) {
        loop {
            let before = self.size();
            let mut chunk = (before / 2).max(1);
            loop {
                let mut first = 0;
                while first < self.size() {
                    let mut smaller = self.clone();
                    smaller.remove(first, chunk);
                    match fails(&smaller) {
                        true => *self = smaller,
                        false => first += chunk,
                    }
                }
                if chunk == 1 {
                    break;
                }
                chunk /= 2;
            }
            if self.size() == before {
                return;
            }
        }
    }

    fn size(&self) -> usize {
        self.files.iter().map(|(_, parts)| size(parts)).sum()
    }

    /// Removes some pieces in the order of their texts.
    fn remove(&mut self, first: usize, count: usize) {
        let mut number = 0;
        for (_, parts) in &mut self.files {
            remove(parts, &(first..first + count), &mut number);
        }
    }
}

fn write(parts: &[Part], depth: usize, text: &mut String) {
    for part in parts {
        match part {
            Part::Text(lines) => {
                for line in lines.lines() {
                    *text += &format!("{}{line}\n", "  ".repeat(depth));
                }
            }
            Part::Block(pieces) => pieces.iter().for_each(|it| write(&it.0, depth + 1, text)),
        }
    }
}

fn size(parts: &[Part]) -> usize {
    let pieces = parts.iter().flat_map(|part| match part {
        Part::Text(_) => &[],
        Part::Block(pieces) => &pieces[..],
    });
    pieces.map(|it| 1 + size(&it.0)).sum()
}

fn remove(parts: &mut [Part], which: &std::ops::Range<usize>, number: &mut usize) {
    for part in parts {
        let Part::Block(pieces) = part else { continue };
        pieces.retain_mut(|piece| {
            let is_removed = which.contains(number);
            *number += 1;
            match is_removed {
                true => *number += size(&piece.0),
                false => remove(&mut piece.0, which, number),
            }
            !is_removed
        });
    }
}
