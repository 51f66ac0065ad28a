//! WGSL for the tracer.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    cornerturn::fuzzing::shader(bytes);
});
