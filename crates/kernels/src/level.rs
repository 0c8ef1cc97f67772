//! The instruction set that the kernels use: by default, the best of the processor.

/// An instruction set that this processor supports and that kernels are written for.
///
/// Values of other instruction sets cannot be created. All levels give the same results.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Level(Set);

/// Instruction sets, in ascending order of preference.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum Set {
    /// The scalar definitions, on every machine.
    Scalar = 1,
    /// 16 bytes at a time, on every 64-bit ARM.
    Neon = 2,
    /// 32 bytes at a time, on most x86-64 since 2013.
    Avx2 = 3,
    /// 64 bytes at a time, with byte permutations (VBMI).
    Avx512 = 4,
}

const ALL: [Set; 4] = [Set::Scalar, Set::Neon, Set::Avx2, Set::Avx512];
const UNKNOWN: u8 = 0;

/// The active level of the process.
#[cfg(not(any(test, feature = "level-per-thread")))]
mod active {
    use std::sync::atomic::{AtomicU8, Ordering};

    static ACTIVE: AtomicU8 = AtomicU8::new(super::UNKNOWN);

    #[inline]
    pub(super) fn get() -> u8 {
        ACTIVE.load(Ordering::Relaxed)
    }

    pub(super) fn set(level: u8) {
        ACTIVE.store(level, Ordering::Relaxed);
    }
}

/// The active level of a thread: Rust's tests run in threads of one process, and a test that activates a level
/// must not affect others.
#[cfg(any(test, feature = "level-per-thread"))]
mod active {
    use std::cell::Cell;

    thread_local! {
        static ACTIVE: Cell<u8> = const { Cell::new(super::UNKNOWN) };
    }

    pub(super) fn get() -> u8 {
        ACTIVE.get()
    }

    pub(super) fn set(level: u8) {
        ACTIVE.set(level);
    }
}

impl Level {
    /// Return the levels of this processor, the best last.
    #[must_use]
    pub fn supported() -> Vec<Self> {
        ALL.into_iter().filter(|set| set.is_supported()).map(Self).collect()
    }

    /// Return the active level: the best, or the one that was activated.
    #[inline]
    #[must_use]
    pub fn active() -> Self {
        match active::get() {
            UNKNOWN => Self::detect(),
            active => Self(ALL[usize::from(active) - 1]),
        }
    }

    /// Activate this level in all threads, or in this thread only with the feature `level-per-thread`.
    pub fn activate(self) {
        active::set(self.0 as u8);
    }

    /// Return the name: `scalar`, `neon`, `avx2` or `avx512`.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self.0 {
            Set::Scalar => "scalar",
            Set::Neon => "neon",
            Set::Avx2 => "avx2",
            Set::Avx512 => "avx512",
        }
    }

    #[inline]
    pub(crate) fn set(self) -> Set {
        self.0
    }

    #[cold]
    fn detect() -> Self {
        let best = Self::supported().pop().unwrap_or(Self(Set::Scalar));
        best.activate();
        best
    }
}

impl Set {
    /// Miri interprets the scalar definitions only.
    fn is_supported(self) -> bool {
        match self {
            Self::Scalar => true,
            _ if cfg!(miri) => false,
            Self::Neon => cfg!(target_arch = "aarch64"),
            #[cfg(target_arch = "x86_64")]
            Self::Avx2 => {
                is_x86_feature_detected!("avx2")
                    && is_x86_feature_detected!("bmi1")
                    && is_x86_feature_detected!("bmi2")
                    && is_x86_feature_detected!("lzcnt")
                    && is_x86_feature_detected!("popcnt")
            }
            #[cfg(target_arch = "x86_64")]
            Self::Avx512 => {
                Self::Avx2.is_supported()
                    && is_x86_feature_detected!("avx512f")
                    && is_x86_feature_detected!("avx512bw")
                    && is_x86_feature_detected!("avx512vbmi")
                    && is_x86_feature_detected!("avx512vbmi2")
            }
            #[cfg(not(target_arch = "x86_64"))]
            Self::Avx2 | Self::Avx512 => false,
        }
    }
}

// Prefetch of cache lines.

/// Prefetch the cache line of `value`; affects speed only.
#[inline]
pub fn prefetch_read<T>(value: &T) {
    #[cfg(all(target_arch = "x86_64", not(miri)))]
    // SAFETY: SSE is part of x86-64, and a prefetch neither faults nor writes, whatever the address.
    unsafe {
        use std::arch::x86_64::{_mm_prefetch, _MM_HINT_T0};
        _mm_prefetch::<_MM_HINT_T0>(std::ptr::from_ref(value).cast());
    }
    #[cfg(all(target_arch = "aarch64", not(miri)))]
    // SAFETY: a prefetch neither faults nor writes, whatever the address.
    unsafe {
        let address = std::ptr::from_ref(value);
        std::arch::asm!("prfm pldl1keep, [{}]", in(reg) address, options(nostack, preserves_flags, readonly));
    }
    #[cfg(any(miri, not(any(target_arch = "x86_64", target_arch = "aarch64"))))]
    let _ = value;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_activated_level_is_active() {
        let supported = Level::supported();
        assert_eq!(supported[0].name(), "scalar");
        for level in supported {
            level.activate();
            assert_eq!(Level::active(), level);
        }
    }

    #[test]
    fn a_level_that_a_test_activates_is_of_its_thread_only() {
        let best = Level::active();
        std::thread::spawn(|| Level::supported()[0].activate()).join().expect("a level is activated");
        assert_eq!(Level::active(), best);
    }
}
