//! A state of a double array in four bytes.
//!
//! A node stores the byte that leads to it, its label, instead of its parent. No two states have the same base, so the
//! label identifies the parent (Yata's darts-clone). A walk reads one cache line a byte.

const IS_FINAL: u32 = 1 << 8;
const BASE_SHIFT: u32 = 9;

/// The largest base that a node can store.
pub(crate) const MAX_BASE: usize = (1 << (32 - BASE_SHIFT)) - 1;

/// From the lowest bit: the label, whether a key ends here, and the base of the children.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct CompactNode(u32);

impl CompactNode {
    /// Return a node that `label` leads to, without children.
    pub(crate) fn with_label(label: u8) -> Self {
        Self(u32::from(label))
    }

    /// Let a key end here.
    pub(crate) fn set_final(&mut self) {
        self.0 |= IS_FINAL;
    }

    /// Set the label of a node that has none yet.
    pub(crate) fn set_label(&mut self, label: u8) {
        self.0 |= u32::from(label);
    }

    /// Set the base of a node that has none yet; it is at most [`MAX_BASE`].
    pub(crate) fn set_base(&mut self, base: usize) {
        self.0 |= (base as u32) << BASE_SHIFT;
    }

    /// Return the slot of the child by `byte`, if there is one: then that child has this label.
    #[inline(always)]
    pub(crate) fn child(self, byte: u8) -> usize {
        self.base() ^ usize::from(byte)
    }

    /// Return whether `byte` leads to this node.
    #[inline(always)]
    pub(crate) fn has_label(self, byte: u8) -> bool {
        self.0 as u8 == byte
    }

    /// Return whether a key ends here.
    #[inline(always)]
    pub(crate) fn is_final(self) -> bool {
        self.0 & IS_FINAL != 0
    }

    /// Return the base of the children.
    #[inline(always)]
    pub(crate) fn base(self) -> usize {
        (self.0 >> BASE_SHIFT) as usize
    }

    /// Return the node of these bits, as a table section stores it.
    pub(crate) fn from_bits(bits: u32) -> Self {
        Self(bits)
    }

    /// Return the bits of the node.
    pub(crate) fn bits(self) -> u32 {
        self.0
    }
}
