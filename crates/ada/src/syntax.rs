//! Syntax trees from tree-sitter-ada, held in one array so that parents and siblings are one step
//! away.

use std::sync::LazyLock;

use crate::error::SyntaxError;
use crate::source::Source;

/// A node of a [`Tree`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct NodeId(pub(crate) u32);

const NONE: u32 = u32::MAX;

#[derive(Debug, Clone)]
struct Node {
    kind: u16,
    field: u16,
    start: u32,
    end: u32,
    parent: u32,
    first: u32,
    next: u32,
    is_missing: bool,
}

/// A syntax tree. Comments and tokens are nodes too; kinds and fields have the grammar's names.
#[derive(Debug, Clone)]
pub struct Tree {
    nodes: Vec<Node>,
}

static LANGUAGE: LazyLock<tree_sitter::Language> =
    LazyLock::new(|| tree_sitter_ada::LANGUAGE.into());
static KINDS: LazyLock<Vec<&'static str>> = LazyLock::new(|| {
    (0..LANGUAGE.node_kind_count())
        .map(|i| LANGUAGE.node_kind_for_id(i as u16).unwrap_or(""))
        .collect()
});
static FIELDS: LazyLock<Vec<&'static str>> = LazyLock::new(|| {
    (0..=LANGUAGE.field_count())
        .map(|i| LANGUAGE.field_name_for_id(i as u16).unwrap_or(""))
        .collect()
});

/// Parses a text. If it has errors, the tree has `ERROR` nodes.
pub fn parse(text: &str) -> Tree {
    let mut parser = tree_sitter::Parser::new();
    parser
        .set_language(&LANGUAGE)
        .expect("the grammar and the library are built together");
    let parsed = parser
        .parse(text, None)
        .expect("a parse without time limit gives a tree");
    let mut nodes: Vec<Node> = Vec::with_capacity(text.len() / 3);
    let mut cursor = parsed.walk();
    let mut parents: Vec<u32> = Vec::new();
    let mut previous: Vec<u32> = vec![NONE];
    loop {
        let node = cursor.node();
        let id = nodes.len() as u32;
        let parent = parents.last().copied().unwrap_or(NONE);
        let kind = if node.is_error() {
            u16::MAX
        } else {
            node.kind_id()
        };
        let field = cursor.field_id().map_or(0, u16::from);
        let (start, end) = (node.start_byte() as u32, node.end_byte() as u32);
        nodes.push(Node {
            kind,
            field,
            start,
            end,
            parent,
            first: NONE,
            next: NONE,
            is_missing: node.is_missing(),
        });
        match previous.last_mut() {
            Some(slot) if *slot != NONE => nodes[*slot as usize].next = id,
            _ if parent != NONE => nodes[parent as usize].first = id,
            _ => {}
        }
        if let Some(slot) = previous.last_mut() {
            *slot = id;
        }
        if cursor.goto_first_child() {
            parents.push(id);
            previous.push(NONE);
            continue;
        }
        while !cursor.goto_next_sibling() {
            if !cursor.goto_parent() {
                return Tree { nodes };
            }
            parents.pop();
            previous.pop();
        }
    }
}

/// Parses a text. If that fails, parses it again without legal constructs that the grammar lacks.
/// These are pragmas between alternatives (RM 2.8 (5)) and in protected bodies, and `'class` in
/// other letters. All places stay the same.
pub fn parse_leniently(text: &str) -> Tree {
    let mut tree = parse(text);
    if !tree.has_errors() {
        return tree;
    }
    let mut bytes = with_class(text);
    for _ in 0..LENIENT_ROUNDS {
        for node in tree.walk(tree.root()) {
            let is_pragma = tree.is_leaf(node)
                && tree.kind(node) == "identifier"
                && bytes[tree.range(node)].eq_ignore_ascii_case(b"pragma");
            if is_pragma {
                let start = tree.start(node);
                let length = pragma_length(&bytes[start..]);
                let blank = |b: &mut u8| *b = if *b == b'\n' { b'\n' } else { b' ' };
                bytes[start..start + length].iter_mut().for_each(blank);
            }
        }
        let Ok(mended) = std::str::from_utf8(&bytes) else {
            break;
        };
        let again = parse(mended);
        if !again.has_errors() {
            return again;
        }
        // If errors remain in the end, they are reported from a parse of the original text.
        tree = again;
    }
    parse(text)
}

/// A limit of repetitions: a removed pragma may have hidden another.
const LENIENT_ROUNDS: usize = 4;

/// Returns the text with `'Class` in the grammar's spelling.
fn with_class(text: &str) -> Vec<u8> {
    let mut bytes = text.as_bytes().to_vec();
    let mut at = 0;
    while let Some(found) = bytes[at..].iter().position(|&b| b == b'\'') {
        at += found + 1;
        if let Some(word) = bytes.get_mut(at..at + 5)
            && word.eq_ignore_ascii_case(b"class")
        {
            word.copy_from_slice(b"Class");
        }
    }
    bytes
}

/// Returns the length of a pragma up to its semicolon; one in a string does not end it.
fn pragma_length(bytes: &[u8]) -> usize {
    let mut is_quoted = false;
    for (index, &byte) in bytes.iter().enumerate() {
        match byte {
            b'"' => is_quoted = !is_quoted,
            b';' if !is_quoted => return index + 1,
            _ => {}
        }
    }
    bytes.len()
}

impl Tree {
    fn has_errors(&self) -> bool {
        self.nodes
            .iter()
            .any(|n| n.is_missing || n.kind == u16::MAX)
    }

    /// Returns the whole compilation.
    pub fn root(&self) -> NodeId {
        NodeId(0)
    }

    fn node(&self, id: NodeId) -> &Node {
        &self.nodes[id.0 as usize]
    }

    /// Returns the grammar's name of the node: `task_body`, `identifier`, `when`; `ERROR` where the
    /// text is not Ada.
    pub fn kind(&self, id: NodeId) -> &'static str {
        KINDS
            .get(usize::from(self.node(id).kind))
            .copied()
            .unwrap_or("ERROR")
    }

    /// Returns the grammar's name of the node's role in its parent, or `""`.
    pub fn field(&self, id: NodeId) -> &'static str {
        FIELDS[usize::from(self.node(id).field)]
    }

    /// Returns the first byte.
    pub fn start(&self, id: NodeId) -> usize {
        self.node(id).start as usize
    }

    /// Returns the byte after the last.
    pub fn end(&self, id: NodeId) -> usize {
        self.node(id).end as usize
    }

    /// Returns the bytes of the node.
    pub fn range(&self, id: NodeId) -> std::ops::Range<usize> {
        self.start(id)..self.end(id)
    }

    /// Returns the node around this one.
    pub fn parent(&self, id: NodeId) -> Option<NodeId> {
        Some(self.node(id).parent)
            .filter(|&p| p != NONE)
            .map(NodeId)
    }

    /// Returns the nodes directly inside, in order, with tokens but without comments.
    pub fn children(&self, id: NodeId) -> impl Iterator<Item = NodeId> + '_ {
        self.children_and_comments(id)
            .filter(|&n| self.kind(n) != "comment")
    }

    /// Returns the nodes directly inside, in order, with tokens and comments.
    pub fn children_and_comments(&self, id: NodeId) -> impl Iterator<Item = NodeId> + '_ {
        let first = self.node(id).first;
        std::iter::successors(Some(first).filter(|&n| n != NONE), |&n| {
            Some(self.nodes[n as usize].next).filter(|&n| n != NONE)
        })
        .map(NodeId)
    }

    /// Returns the first node directly inside that is of a kind.
    pub fn child(&self, id: NodeId, kind: &str) -> Option<NodeId> {
        self.children(id).find(|&n| self.kind(n) == kind)
    }

    /// Returns all nodes directly inside that are of a kind.
    pub fn all<'t>(&'t self, id: NodeId, kind: &'t str) -> impl Iterator<Item = NodeId> + 't {
        self.children(id).filter(move |&n| self.kind(n) == kind)
    }

    /// Returns the first node directly inside with a role.
    pub fn role(&self, id: NodeId, field: &str) -> Option<NodeId> {
        self.children(id).find(|&n| self.field(n) == field)
    }

    /// Returns the next sibling that is not a comment.
    pub fn next(&self, id: NodeId) -> Option<NodeId> {
        let mut next = self.node(id).next;
        while next != NONE && self.kind(NodeId(next)) == "comment" {
            next = self.nodes[next as usize].next;
        }
        Some(next).filter(|&n| n != NONE).map(NodeId)
    }

    /// Returns the sibling before that is not a comment.
    pub fn previous(&self, id: NodeId) -> Option<NodeId> {
        self.children(self.parent(id)?)
            .take_while(|&n| n != id)
            .last()
    }

    /// Whether nothing is inside.
    pub fn is_leaf(&self, id: NodeId) -> bool {
        self.node(id).first == NONE
    }

    /// Returns the node and all below it, parents before children.
    pub fn walk(&self, id: NodeId) -> impl Iterator<Item = NodeId> + '_ {
        let mut stop = self.node(id).next;
        let mut above = self.node(id).parent;
        while stop == NONE && above != NONE {
            stop = self.nodes[above as usize].next;
            above = self.nodes[above as usize].parent;
        }
        // Parents have lower numbers than their children, so a subtree is a range of numbers.
        (id.0..if stop == NONE {
            self.nodes.len() as u32
        } else {
            stop
        })
            .map(NodeId)
    }

    /// Returns the nodes that begin in a range of bytes, parents before children.
    pub fn starting_in(&self, bytes: std::ops::Range<usize>) -> impl Iterator<Item = NodeId> + '_ {
        // Nodes are numbered in the order in which they begin.
        let first = |byte: usize| self.nodes.partition_point(|n| (n.start as usize) < byte);
        (first(bytes.start)..first(bytes.end)).map(|index| NodeId(index as u32))
    }

    /// Returns the nodes around this one, nearest first.
    pub fn ancestors(&self, id: NodeId) -> impl Iterator<Item = NodeId> + '_ {
        std::iter::successors(self.parent(id), |&n| self.parent(n))
    }

    /// Returns the nearest node around this one that has one of some kinds.
    pub fn ancestor(&self, id: NodeId, kinds: &[&str]) -> Option<NodeId> {
        self.ancestors(id).find(|&n| kinds.contains(&self.kind(n)))
    }

    /// Whether `inner` is `outer` or inside it.
    pub fn is_within(&self, inner: NodeId, outer: NodeId) -> bool {
        self.start(outer) <= self.start(inner)
            && self.end(inner) <= self.end(outer)
            && inner >= outer
    }
}

impl Source {
    /// Returns the text of a node.
    pub fn text(&self, id: NodeId) -> &str {
        &self.text[self.tree.range(id)]
    }

    /// Returns the place where a node begins.
    pub fn place_of(&self, id: NodeId) -> crate::source::Place {
        self.place(self.tree.start(id))
    }
}

/// Limit of depth, because functions on trees may be recursive. Ada that people write is never so
/// deep.
const DEPTH_MAX: u32 = 2_000;

fn too_deep(tree: &Tree) -> Option<NodeId> {
    let mut depths: Vec<u32> = Vec::with_capacity(tree.nodes.len());
    for (index, node) in tree.nodes.iter().enumerate() {
        let depth = depths.get(node.parent as usize).map_or(0, |d| d + 1);
        if depth > DEPTH_MAX {
            return Some(NodeId(index as u32));
        }
        depths.push(depth);
    }
    None
}

/// Returns the places where a source is not Ada.
pub fn errors(source: &Source) -> Vec<SyntaxError> {
    let tree = &source.tree;
    let mut found = Vec::new();
    let mut past = 0;
    if let Some(node) = too_deep(tree) {
        let found = format!(
            "{}, nested more than {DEPTH_MAX} levels deep",
            word_at(&source.text, tree.start(node))
        );
        return vec![SyntaxError {
            place: source.place_of(node),
            found,
            missing: None,
        }];
    }
    for index in 0..tree.nodes.len() {
        let id = NodeId(index as u32);
        let node = tree.node(id);
        if (node.start as usize) < past {
            continue;
        }
        if node.is_missing {
            let missing = Some(format!("`{}`", tree.kind(id)));
            found.push(SyntaxError {
                place: source.place_of(id),
                found: word_at(&source.text, tree.start(id)),
                missing,
            });
        } else if tree.kind(id) == "ERROR" {
            let start = first_error(tree, id);
            found.push(SyntaxError {
                place: source.place(start),
                found: word_at(&source.text, start),
                missing: None,
            });
            past = tree.end(id);
        } else if tree.kind(id) == "git_conflict_mark" {
            found.push(SyntaxError {
                place: source.place_of(id),
                found: "a merge conflict mark".into(),
                missing: None,
            });
        }
    }
    found
}

/// Returns the place of the first error. An error node often begins where the construct does, and
/// the innermost one inside is nearer to the fault.
fn first_error(tree: &Tree, id: NodeId) -> usize {
    tree.walk(id)
        .filter(|&n| n != id && tree.kind(n) == "ERROR")
        .map(|n| tree.start(n))
        .next()
        .unwrap_or(tree.start(id))
}

fn word_at(text: &str, byte: usize) -> String {
    let rest = text[byte..].trim_start();
    let length = rest
        .find(|c: char| !c.is_alphanumeric() && c != '_')
        .unwrap_or(rest.len());
    match (rest.chars().next(), length) {
        (None, _) => "the end of the file".into(),
        (Some(c), 0) => format!("`{c}`"),
        _ => format!("`{}`", rest[..length].chars().take(40).collect::<String>()),
    }
}
