//! Ctrl-C: the first one asks for an end, the second one makes it.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use super::{Failure, complain, output};

/// A flag that the first Ctrl-C raises, saying this; the second ends the program.
pub fn stop_on_interrupt(saying: &'static str) -> Result<Arc<AtomicBool>, Failure> {
    let stop = Arc::new(AtomicBool::new(false));
    let raised = Arc::clone(&stop);
    let handler = move || {
        if raised.swap(true, Ordering::Relaxed) {
            output::remove_temporary_files();
            std::process::exit(130);
        }
        complain(saying);
    };
    ctrlc::set_handler(handler).map_err(|error| Failure::Run(format!("cannot catch Ctrl-C: {error}")))?;
    Ok(stop)
}
