//! C text in the making.

/// Lines with their indentation.
#[derive(Debug, Default)]
pub(super) struct Writer {
    text: String,
    depth: usize,
}

impl Writer {
    /// One that begins at a depth.
    pub(super) fn at_depth(depth: usize) -> Writer {
        Writer {
            text: String::new(),
            depth,
        }
    }

    /// The depth of the next line.
    pub(super) fn depth(&self) -> usize {
        self.depth
    }

    /// A line.
    pub(super) fn line(&mut self, line: impl AsRef<str>) {
        let line = line.as_ref();
        if !line.is_empty() {
            self.text.extend(std::iter::repeat_n("    ", self.depth));
            self.text.push_str(line);
        }
        self.text.push('\n');
    }

    /// A line that begins in the first column: a directive.
    pub(super) fn directive(&mut self, line: &str) {
        self.text.push_str(line);
        self.text.push('\n');
    }

    /// A label, which stands one step to the left.
    pub(super) fn label(&mut self, label: &str) {
        let depth = self.depth.saturating_sub(1);
        self.text.extend(std::iter::repeat_n("    ", depth));
        self.text.push_str(label);
        self.text.push_str(":;\n");
    }

    /// A line after which a block is open.
    pub(super) fn open(&mut self, line: impl AsRef<str>) {
        self.line(line);
        self.depth += 1;
    }

    /// Ends a block.
    pub(super) fn close(&mut self, line: impl AsRef<str>) {
        self.depth -= 1;
        self.line(line);
    }

    /// Ends a block and begins another.
    pub(super) fn reopen(&mut self, line: impl AsRef<str>) {
        self.depth -= 1;
        self.line(line);
        self.depth += 1;
    }

    /// Lines are one step further in from now on.
    pub(super) fn indent(&mut self) {
        self.depth += 1;
    }

    /// Lines are one step less far in from now on.
    pub(super) fn outdent(&mut self) {
        self.depth -= 1;
    }

    /// Lines that another has written.
    pub(super) fn append(&mut self, other: &str) {
        self.text.push_str(other);
    }

    /// Whether nothing was written.
    pub(super) fn is_empty(&self) -> bool {
        self.text.is_empty()
    }

    /// What was written.
    pub(super) fn finish(self) -> String {
        self.text
    }
}
