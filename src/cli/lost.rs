//! Maps of files that lose their end while they are read.
//!
//! Where a file has become shorter than its map, or its disk fails, whoever reads there is sent SIGBUS, which ends a
//! program. Here the map is replaced by zeros instead, and whoever reads goes on to where it asks whether anything was
//! lost: then there is no result, but an error as any other, and nothing is left behind.

use std::io;

/// Watches over a map until it is dropped; one at a time.
pub struct Watch(());

impl Watch {
    /// Watches over `map`, whole pages that nobody writes to.
    ///
    /// # Errors
    /// Why the signal cannot be caught.
    pub fn over(map: &[u8]) -> io::Result<Watch> {
        system::watch(map.as_ptr_range()).map(|()| Watch(()))
    }

    /// Whether a part of the map could not be read: what it showed then was zeros.
    pub fn lost(&self) -> bool {
        system::lost()
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        system::end();
    }
}

#[cfg(unix)]
mod system {
    use std::ffi::{c_int, c_void};
    use std::ops::Range;
    use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
    use std::{io, ptr};

    /// The addresses of the map; none where both are the same.
    static BEGIN: AtomicUsize = AtomicUsize::new(0);
    static END: AtomicUsize = AtomicUsize::new(0);
    static LOST: AtomicBool = AtomicBool::new(false);

    pub fn watch(map: Range<*const u8>) -> io::Result<()> {
        LOST.store(false, Ordering::SeqCst);
        BEGIN.store(map.start.expose_provenance(), Ordering::SeqCst);
        END.store(map.end.expose_provenance(), Ordering::SeqCst);
        // SAFETY: all zeros is an action; its handler does nothing but what a handler may: atomics, and system calls.
        let set = unsafe {
            let mut action: libc::sigaction = std::mem::zeroed();
            action.sa_sigaction = on_bus_error as *const () as usize;
            action.sa_flags = libc::SA_SIGINFO | libc::SA_ONSTACK;
            libc::sigaction(libc::SIGBUS, &action, ptr::null_mut())
        };
        if set == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
    }

    pub fn lost() -> bool {
        LOST.load(Ordering::SeqCst)
    }

    pub fn end() {
        END.store(0, Ordering::SeqCst);
        BEGIN.store(0, Ordering::SeqCst);
    }

    extern "C" fn on_bus_error(_: c_int, info: *mut libc::siginfo_t, _: *mut c_void) {
        let (begin, end) = (BEGIN.load(Ordering::SeqCst), END.load(Ordering::SeqCst));
        // SAFETY: the system gives the handler a valid one.
        let at = unsafe { (*info).si_addr() }.addr();
        if (begin..end).contains(&at) && replace(begin, end - begin) {
            LOST.store(true, Ordering::SeqCst);
            return;
        }
        // Somebody else's: what was going to be read is read once more, and the program ends as it would have.
        // SAFETY: the default action runs no code of the program's.
        unsafe {
            libc::signal(libc::SIGBUS, libc::SIG_DFL);
        }
    }

    /// Puts zeros in place of the map.
    fn replace(begin: usize, length: usize) -> bool {
        let flags = libc::MAP_FIXED | libc::MAP_PRIVATE | libc::MAP_ANON;
        let begin = ptr::with_exposed_provenance_mut(begin);
        // SAFETY: the map is there while it is watched over, nobody writes to it, and its owner unmaps these pages as it would
        // have the file's.
        let map = unsafe { libc::mmap(begin, length, libc::PROT_READ, flags, -1, 0) };
        map != libc::MAP_FAILED
    }
}

#[cfg(not(unix))]
mod system {
    use std::io;
    use std::ops::Range;

    /// A file that is mapped cannot be made shorter.
    pub fn watch(_: Range<*const u8>) -> io::Result<()> {
        Ok(())
    }

    pub fn lost() -> bool {
        false
    }

    pub fn end() {}
}
