//! The levels of a GPU's memory, and which plateau of the curve is which of them.

use super::knees::Plateau;

macro_rules! levels {
    ($(
        $(#[doc = $doc:literal])+
        $level:ident $name:literal $title:literal $space:literal $scope:literal $lifetime:literal $per:literal;
    )*) => {
        /// A level of the memory hierarchy.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum Level { $($(#[doc = $doc])+ $level,)* }

        impl Level {
            /// Every level, from the nearest on.
            pub const ALL: [Level; 5] = [$(Level::$level,)*];

            /// The name in records.
            pub const fn name(self) -> &'static str {
                match self { $(Level::$level => $name,)* }
            }

            /// The name in tables.
            pub const fn title(self) -> &'static str {
                match self { $(Level::$level => $title,)* }
            }

            /// Where it lies.
            pub const fn space(self) -> &'static str {
                match self { $(Level::$level => $space,)* }
            }

            /// Who sees what is in it.
            pub const fn scope(self) -> &'static str {
                match self { $(Level::$level => $scope,)* }
            }

            /// How long it is there.
            pub const fn lifetime(self) -> &'static str {
                match self { $(Level::$level => $lifetime,)* }
            }

            /// What has one of it: `multiprocessor` or `device`.
            pub const fn per(self) -> &'static str {
                match self { $(Level::$level => $per,)* }
            }
        }
    };
}

levels! {
    /// The register file.
    Registers "registers" "registers" "on-chip register file" "one thread" "the thread" "multiprocessor";
    /// Shared memory, which WebGPU calls workgroup memory.
    Shared "shared" "shared memory" "on-chip SRAM" "one block" "the block" "multiprocessor";
    /// The first-level cache.
    L1 "l1" "L1 cache" "on-chip SRAM" "one multiprocessor" "managed by the hardware" "multiprocessor";
    /// The last-level cache.
    L2 "l2" "L2 cache" "on-chip, behind the crossbar" "all multiprocessors" "managed by the hardware" "device";
    /// Global memory.
    Global "global" "global memory" "off-chip DRAM" "all threads and the host" "the application" "device";
}

impl Level {
    /// The level of a name.
    pub fn of_name(name: &str) -> Option<Level> {
        Level::ALL.into_iter().find(|level| level.name() == name)
    }
}

/// A first-level cache is smaller than this on every GPU.
const LARGEST_L1: u64 = 2 << 20;

/// The part of a curve that belongs to a level.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Part {
    /// The sizes over which its latency is taken.
    pub bytes: (u64, u64),
    /// The last size that it holds and the first that it does not, where it ends.
    pub knee: Option<(u64, u64)>,
    /// What is unusual about it.
    pub note: Option<String>,
}

/// Finds L1, L2 and global memory in a curve that reaches to `largest`, of a device with a last-level cache of
/// `cache_bytes`, where that is known.
pub(super) fn assign(plateaus: &[Plateau], largest: u64, cache_bytes: Option<u64>) -> [Option<Part>; 3] {
    let (first, rest) = match plateaus.split_first() {
        Some((first, rest)) if first.bytes.1 < LARGEST_L1 && first.next.is_some() => (Some(first), rest),
        _ => (None, plateaus),
    };
    // What lies well beyond the cache is memory, plateau or not.
    let beyond = cache_bytes.map_or(u64::MAX, |bytes| 2 * bytes);
    let memory = |plateau: &&Plateau| plateau.next.is_none() || plateau.bytes.0 >= beyond;
    let caches: Vec<&Plateau> = rest.iter().take_while(|plateau| !memory(plateau)).collect();
    let global = match cache_bytes {
        Some(_) if beyond <= largest => Some(Part { bytes: (beyond, largest), knee: None, note: None }),
        Some(_) => None,
        None => rest.iter().rfind(memory).filter(|_| !caches.is_empty()).map(part),
    };
    [first.map(part), caches.first().map(|nearest| cache(nearest, &caches)), global]
}

fn part(plateau: &Plateau) -> Part {
    Part { bytes: plateau.bytes, knee: plateau.next.map(|next| (plateau.bytes.1, next)), note: None }
}

/// The last-level cache: its latency is that of the nearest of its plateaus, it ends where the last of them does.
fn cache(nearest: &Plateau, all: &[&Plateau]) -> Part {
    let farthest = all.last().unwrap_or(&nearest);
    let note = (all.len() > 1).then(|| {
        let mib = |bytes: u64| bytes as f64 / f64::from(1 << 20);
        let each =
            |plateau: &&Plateau| format!("{:.0} ns up to {:.1} MiB", plateau.latency * 1e9, mib(plateau.bytes.1));
        format!("it has {} steps: {}", all.len(), all.iter().map(each).collect::<Vec<_>>().join(", "))
    });
    Part { bytes: nearest.bytes, knee: part(farthest).knee, note }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plateau(from: u64, to: u64, latency: f64, next: Option<u64>) -> Plateau {
        Plateau { bytes: (from, to), latency, next }
    }

    const KIB: u64 = 1 << 10;
    const MIB: u64 = 1 << 20;

    #[test]
    fn three_plateaus_are_the_three_levels() {
        let found = [
            plateau(KIB, 200 * KIB, 17e-9, Some(210 * KIB)),
            plateau(512 * KIB, 40 * MIB, 140e-9, Some(45 * MIB)),
            plateau(100 * MIB, 240 * MIB, 400e-9, None),
        ];
        for cache in [Some(50 * MIB), None] {
            let [l1, l2, global] = assign(&found, 240 * MIB, cache);
            assert_eq!(l1.unwrap().knee, Some((200 * KIB, 210 * KIB)));
            let l2 = l2.unwrap();
            assert_eq!((l2.bytes, l2.knee), ((512 * KIB, 40 * MIB), Some((40 * MIB, 45 * MIB))));
            assert_eq!(global.unwrap().bytes, (100 * MIB, 240 * MIB));
        }
    }

    #[test]
    fn a_cache_in_two_steps_has_the_nearer_ones_latency_and_both_their_bytes() {
        let found = [
            plateau(KIB, 200 * KIB, 17e-9, Some(210 * KIB)),
            plateau(512 * KIB, 20 * MIB, 140e-9, Some(23 * MIB)),
            plateau(25 * MIB, 45 * MIB, 180e-9, Some(50 * MIB)),
            plateau(100 * MIB, 240 * MIB, 400e-9, None),
        ];
        let [_, l2, _] = assign(&found, 240 * MIB, Some(60 * MIB));
        let l2 = l2.unwrap();
        assert_eq!((l2.bytes.1, l2.knee), (20 * MIB, Some((45 * MIB, 50 * MIB))));
        assert!(l2.note.unwrap().contains("2 steps: 140 ns up to 20.0 MiB, 180 ns"));
    }

    #[test]
    fn what_is_not_there_is_not_named() {
        assert_eq!(assign(&[], MIB, None), [None, None, None]);
        // One level alone, and no size of it beyond the cache.
        let flat = [plateau(KIB, MIB, 1e-8, None)];
        assert_eq!(assign(&flat, MIB, Some(MIB)), [None, None, None]);
        // Memory that has no plateau, because its latency goes on rising.
        let [_, _, global] = assign(&flat, 240 * MIB, Some(60 * MIB));
        assert_eq!(global.unwrap().bytes, (120 * MIB, 240 * MIB));
    }
}
