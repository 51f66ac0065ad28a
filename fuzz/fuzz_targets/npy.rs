//! The header of a `.npy` file.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    cornerturn::fuzzing::npy(bytes);
});
