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
            end();
        }
        complain(saying);
    };
    ctrlc::set_handler(handler).map_err(|error| Failure::Run(format!("cannot catch Ctrl-C: {error}")))?;
    Ok(stop)
}

/// Runs `wait`, during which the first Ctrl-C ends the program: for what may take forever and leaves nothing behind.
pub fn end_at_once<T>(stop: &AtomicBool, wait: impl FnOnce() -> T) -> T {
    // As if the first one had come already. If it has, nobody would look at it before the end of the wait.
    if stop.swap(true, Ordering::Relaxed) {
        end();
    }
    let done = wait();
    stop.store(false, Ordering::Relaxed);
    done
}

fn end() -> ! {
    output::remove_temporary_files();
    std::process::exit(130)
}
