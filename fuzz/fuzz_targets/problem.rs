//! The numbers of a problem and of its layouts.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    cornerturn::fuzzing::problem(bytes);
});
