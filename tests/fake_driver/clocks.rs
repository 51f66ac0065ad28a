//! Scene: what NVML says of the fake driver's devices.

use cornerturn::backends;
use cornerturn::device::Api;

/// Prints a reading of each device.
pub fn clocks() {
    for device in &backends::discover(&[Api::Cuda]).devices {
        let id = device.device().id;
        match device.sensor().map(|sensor| sensor.read()) {
            None => println!("{id} has no sensor"),
            Some(reading) => println!(
                "{id} SM {:?}, memory {:?}, {:?}, {:?}",
                reading.sm_mhz, reading.memory_mhz, reading.throttled, reading.throttled_ns
            ),
        }
    }
}
