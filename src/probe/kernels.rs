//! The probes' kernels: one table from which the enum, the embedded sources, their defines and the tests all come.
//!
//! A new probe is one row here, `shaders/probes/STEM.wgsl` and `cuda/probes/STEM.cu`; `scripts/ptx` makes its PTX.

use crate::kernel::Language;

/// What a kernel is compiled with, in both languages.
type Defines = &'static [(&'static str, u32)];

macro_rules! probes {
    ($($(#[doc = $doc:literal])+ $probe:ident $name:literal $stem:literal $cuda:expr, $wgsl:expr;)*) => {
        /// A kernel that measures one thing.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum Probe { $($(#[doc = $doc])+ $probe,)* }

        impl Probe {
            /// Every probe, in the order of the table.
            pub const ALL: &[Probe] = &[$(Probe::$probe,)*];

            /// Its name, and that of its PTX.
            pub const fn name(self) -> &'static str {
                match self { $(Probe::$probe => $name,)* }
            }

            /// The stem of its sources' names, which is also the name of the kernel in its PTX.
            pub const fn stem(self) -> &'static str {
                match self { $(Probe::$probe => $stem,)* }
            }

            /// What its source is compiled with.
            pub const fn defines(self, language: Language) -> Defines {
                match (self, language) {
                    $((Probe::$probe, Language::Cuda) => $cuda, (Probe::$probe, Language::Wgsl) => $wgsl,)*
                }
            }

            const fn body(self) -> &'static str {
                match self { $(Probe::$probe => include_str!(concat!("../../shaders/probes/", $stem, ".wgsl")),)* }
            }

            /// Its PTX.
            #[cfg(feature = "cuda")]
            pub const fn ptx(self) -> &'static str {
                match self { $(Probe::$probe => include_str!(concat!("../../cuda/ptx/probes/", $name, ".ptx")),)* }
            }
        }
    };
}

/// Threads of a block of which a multiprocessor runs one at a time, to be timed by its own clock, and invocations of a
/// workgroup, as many as every device of WebGPU runs.
const LARGE: u32 = 1024;
const SMALL: u32 = 256;

probes! {
    /// A chain of dependent loads through global memory, one lane.
    Chase "chase" "chase" &[], &[];
    /// A chain of dependent loads through shared memory, one lane.
    ChaseShared "chase-shared" "chase_shared" &[("BLOCK", 32), ("RING", 1024)], &[("BLOCK", 32), ("RING", 1024)];
    /// A chain of dependent multiply-adds, one lane.
    Chain "chain" "chain" &[], &[];
    /// Independent multiply-adds in all lanes.
    Multiply "multiply" "multiply" &[("BLOCK", LARGE)], &[("BLOCK", SMALL)];
    /// Conflict-free reads of shared memory.
    ReadShared "read-shared" "read_shared" &[("BLOCK", LARGE), ("TILE", 1024)], &[("BLOCK", SMALL), ("TILE", 1024)];
    /// Each block reads a small window of its own again and again.
    ReadL1 "read-l1" "read" &[("BLOCK", LARGE), ("UNROLL", 4), ("CACHED", 1), ("CYCLES", 1)],
        &[("BLOCK", SMALL), ("UNROLL", 4)];
    /// Blocks read windows in turns, so that no L1 has what is read next.
    ReadL2 "read-l2" "read" &[("BLOCK", LARGE), ("UNROLL", 4), ("CACHED", 0), ("CYCLES", 1)],
        &[("BLOCK", SMALL), ("UNROLL", 4)];
    /// Each block reads 4 KiB once, one load a thread.
    ReadOnce1 "read-once-1" "read" &[("BLOCK", SMALL), ("UNROLL", 1), ("CACHED", 1), ("CYCLES", 0)],
        &[("BLOCK", SMALL), ("UNROLL", 1)];
    /// Each block reads 8 KiB once, two loads a thread.
    ReadOnce2 "read-once-2" "read" &[("BLOCK", SMALL), ("UNROLL", 2), ("CACHED", 1), ("CYCLES", 0)],
        &[("BLOCK", SMALL), ("UNROLL", 2)];
    /// Each block reads 16 KiB once, four loads a thread.
    ReadOnce4 "read-once-4" "read" &[("BLOCK", SMALL), ("UNROLL", 4), ("CACHED", 1), ("CYCLES", 0)],
        &[("BLOCK", SMALL), ("UNROLL", 4)];
    /// Strided loads of 4 bytes.
    Load4 "load.w4" "load" &[("WIDTH", 4), ("BLOCK", SMALL), ("UNROLL", 8)],
        &[("WIDTH", 4), ("BLOCK", SMALL), ("UNROLL", 8)];
    /// Strided loads of 16 bytes.
    Load16 "load.w16" "load" &[("WIDTH", 16), ("BLOCK", SMALL), ("UNROLL", 4)],
        &[("WIDTH", 16), ("BLOCK", SMALL), ("UNROLL", 4)];
    /// Strided stores of 4 bytes.
    Store4 "store.w4" "store" &[("WIDTH", 4), ("BLOCK", SMALL), ("UNROLL", 8)],
        &[("WIDTH", 4), ("BLOCK", SMALL), ("UNROLL", 8)];
    /// Strided stores of 16 bytes.
    Store16 "store.w16" "store" &[("WIDTH", 16), ("BLOCK", SMALL), ("UNROLL", 4)],
        &[("WIDTH", 16), ("BLOCK", SMALL), ("UNROLL", 4)];
    /// Strided reads of shared memory.
    Banks "banks" "banks" &[("BLOCK", SMALL), ("WORDS", 2048)], &[("BLOCK", SMALL), ("WORDS", 2048)];
}

/// What all probes share.
const COMMON: &str = include_str!("../../shaders/lib/probe.wgsl");

impl Probe {
    /// The value of one of its defines; 1 where it has none of that name.
    pub fn define(self, name: &str, language: Language) -> u32 {
        let found = self.defines(language).iter().find(|(known, _)| *known == name);
        found.map_or(1, |(_, value)| *value)
    }

    /// Threads of a block.
    pub fn block(self, language: Language) -> u32 {
        self.define("BLOCK", language)
    }

    /// Bytes of shared memory that a block takes.
    pub fn shared_bytes(self) -> u32 {
        // The same in both languages.
        match self {
            Probe::ChaseShared => 4 * self.define("RING", Language::Wgsl),
            Probe::ReadShared => 16 * self.define("TILE", Language::Wgsl),
            Probe::Banks => 4 * self.define("WORDS", Language::Wgsl),
            _ => 0,
        }
    }

    /// Its complete WGSL; the entry point is called `main`.
    pub fn wgsl(self) -> String {
        let mut preamble = String::from("// Generated from the table of probes.\n");
        for (name, value) in self.defines(Language::Wgsl) {
            preamble += &format!("const {name} = {value}u;\n");
        }
        let element = match self {
            Probe::Load4 | Probe::Store4 => include_str!("../../shaders/lib/probe_w4.wgsl"),
            Probe::Load16 | Probe::Store16 => include_str!("../../shaders/lib/probe_w16.wgsl"),
            _ => "",
        };
        [&preamble, COMMON, element, self.body()].join("\n")
    }

    /// The defines with which its CUDA source is compiled, such as `-DBLOCK=256`.
    pub fn cuda_defines(self) -> Vec<String> {
        self.defines(Language::Cuda).iter().map(|(name, value)| format!("-D{name}={value}")).collect()
    }

    /// The file that its WGSL lives in, relative to the package.
    pub fn wgsl_file(self) -> String {
        format!("shaders/probes/{}.wgsl", self.stem())
    }

    /// The file that its CUDA source lives in, relative to the package.
    pub fn cuda_file(self) -> String {
        format!("cuda/probes/{}.cu", self.stem())
    }

    /// The file that its PTX lives in, relative to the package.
    pub fn ptx_file(self) -> String {
        format!("cuda/ptx/probes/{}.ptx", self.name())
    }
}
