//! Which two numbers join to which: buckets of four pairs.

use crate::prefetch::prefetch_read;

/// Numbers have so many bits.
pub const NUMBER_BITS: u32 = 21;
/// All are below this one, which has nothing but ones.
pub const NUMBER_BOUND: u32 = (1 << NUMBER_BITS) - 1;
const FREE: u64 = u64::MAX;
const BUCKET: usize = 4;
/// So many buckets for so many pairs: one in fifteen is full.
const BUCKETS: usize = 2;
const FOR_PAIRS: usize = 3;

/// The table. What a bucket has no room for is in the next.
#[derive(Clone, Debug)]
pub struct Pairs {
    buckets: Vec<Bucket>,
    room: usize,
}

/// Left, right and joined of each pair, from the top; what is free comes last.
#[derive(Clone, Debug)]
#[repr(C, align(32))]
struct Bucket([u64; BUCKET]);

impl Pairs {
    /// A table for so many pairs.
    #[must_use]
    pub fn with_room_for(pairs: usize) -> Self {
        let count = pairs * BUCKETS / FOR_PAIRS + 1;
        Self { buckets: vec![Bucket([FREE; BUCKET]); count], room: count * BUCKET - 1 }
    }

    /// Let two numbers join, which did not; all three are below `NUMBER_BOUND`.
    ///
    /// # Panics
    /// Panics where there is no room left.
    pub fn insert(&mut self, left: u32, right: u32, joined: u32) {
        self.room = self.room.checked_sub(1).expect("there is room for the pairs that were announced");
        let mut at = self.home(left, right);
        let slot = loop {
            match self.buckets[at].0.iter().position(|&slot| slot == FREE) {
                Some(free) => break &mut self.buckets[at].0[free],
                None => at = self.after(at),
            }
        };
        *slot = key(left, right) << NUMBER_BITS | u64::from(joined);
    }

    /// What two numbers join to, or `NUMBER_BOUND`.
    #[inline(always)]
    #[must_use]
    pub fn get(&self, left: u32, right: u32) -> u32 {
        self.find(self.home(left, right), left, right)
    }

    /// Ask for the memory where `get` and `insert` look first for two numbers; says where that is.
    #[inline(always)]
    pub fn seek(&self, left: u32, right: u32) -> usize {
        let at = self.home(left, right);
        prefetch_read(&self.buckets[at]);
        at
    }

    /// `get`, told by `seek` where to look.
    #[inline(always)]
    pub(super) fn find(&self, mut at: usize, left: u32, right: u32) -> u32 {
        let key = key(left, right);
        loop {
            let Bucket(slots) = &self.buckets[at];
            // All are compared, without a branch.
            let found = slots.iter().fold(FREE, |found, &slot| {
                // Nothing but ones where the pair is the one sought: it has so few bits.
                let is_sought = ((slot >> NUMBER_BITS ^ key).wrapping_sub(1) as i64 >> 63) as u64;
                found & (slot | !is_sought)
            });
            let is_last = (found != FREE) | (slots[BUCKET - 1] == FREE);
            if is_last {
                return found as u32 & NUMBER_BOUND;
            }
            at = self.after(at);
        }
    }

    /// The memory they take.
    #[must_use]
    pub fn bytes(&self) -> usize {
        size_of_val(self.buckets.as_slice())
    }

    #[inline(always)]
    fn home(&self, left: u32, right: u32) -> usize {
        ((u128::from(hash(left, right)) * self.buckets.len() as u128) >> 64) as usize
    }

    #[inline(always)]
    fn after(&self, at: usize) -> usize {
        if at + 1 == self.buckets.len() {
            0
        } else {
            at + 1
        }
    }
}

/// The hash of two numbers; the top bits are the best.
#[inline(always)]
#[must_use]
pub fn hash(left: u32, right: u32) -> u64 {
    key(left, right).wrapping_mul(0x9E37_79B9_7F4A_7C15)
}

#[inline(always)]
fn key(left: u32, right: u32) -> u64 {
    u64::from(left) << NUMBER_BITS | u64::from(right)
}
