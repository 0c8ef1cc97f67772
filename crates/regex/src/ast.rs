//! What an expression means: a tree of nodes, with every option and every set resolved.

/// The number of a set in the table that goes with a tree.
pub(crate) type SetId = u32;

#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Node {
    /// Matches the empty text.
    Empty,
    /// One character of a set.
    Set(SetId),
    /// These very characters.
    Text(Vec<char>),
    /// One after the other; of one node, a group that hides its inside from repetitions after it.
    Concat(Vec<Node>),
    /// The first of these that lets the rest match.
    Alternate(Vec<Node>),
    Repeat(Box<Repeat>),
    Capture(usize, Box<Node>),
    /// What matched inside is not tried in another way.
    Atomic(Box<Node>),
    Look(Box<Look>),
    Anchor(Anchor),
    /// What a group matched last.
    Reference(usize),
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Repeat {
    pub(crate) body: Node,
    pub(crate) min: u32,
    /// `None` without an upper bound.
    pub(crate) max: Option<u32>,
    pub(crate) greedy: bool,
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Look {
    pub(crate) body: Node,
    pub(crate) behind: bool,
    pub(crate) negate: bool,
    /// Of look-behind: the fewest and the most characters it reads.
    pub(crate) length: (u32, Option<u32>),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Anchor {
    TextStart,
    TextEnd,
    /// At the end, or before a line feed that ends the text.
    TextEndOrLastLine,
    LineStart,
    LineEnd,
    SearchStart,
    WordBoundary,
    NotWordBoundary,
}

impl Node {
    /// Nodes one after the other.
    pub(crate) fn concat(mut nodes: Vec<Node>) -> Node {
        match nodes.len() {
            0 => Node::Empty,
            1 => nodes.remove(0),
            _ => Node::Concat(nodes),
        }
    }

    /// Alternatives.
    pub(crate) fn alternate(mut nodes: Vec<Node>) -> Node {
        match nodes.len() {
            0 => Node::Empty,
            1 => nodes.remove(0),
            _ => Node::Alternate(nodes),
        }
    }

    /// Whether this can match without reading anything; `of_group` says it of a group referenced to.
    pub(crate) fn is_nullable(&self, of_group: &[bool]) -> bool {
        match self {
            Node::Set(_) => false,
            Node::Text(text) => text.is_empty(),
            Node::Empty | Node::Look(_) | Node::Anchor(_) => true,
            Node::Concat(nodes) => nodes.iter().all(|node| node.is_nullable(of_group)),
            Node::Alternate(nodes) => nodes.iter().any(|node| node.is_nullable(of_group)),
            Node::Repeat(repeat) => repeat.min == 0 || repeat.body.is_nullable(of_group),
            Node::Capture(_, body) | Node::Atomic(body) => body.is_nullable(of_group),
            Node::Reference(group) => of_group.get(*group).copied().unwrap_or(true),
        }
    }

    /// The parts of a node, for walks over the whole tree.
    pub(crate) fn children(&self) -> &[Node] {
        match self {
            Node::Concat(nodes) | Node::Alternate(nodes) => nodes,
            Node::Repeat(repeat) => std::slice::from_ref(&repeat.body),
            Node::Capture(_, body) | Node::Atomic(body) => std::slice::from_ref(body),
            Node::Look(look) => std::slice::from_ref(&look.body),
            _ => &[],
        }
    }

    /// Whether `is` says yes of this node or of one inside.
    pub(crate) fn any(&self, is: &dyn Fn(&Node) -> bool) -> bool {
        is(self) || self.children().iter().any(|node| node.any(is))
    }
}
