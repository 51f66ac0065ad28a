//! The `cornerturn` program: see [`cornerturn::cli`].

use std::process::ExitCode;

fn main() -> ExitCode {
    // Looking for OpenGL devices asks for a Wayland display, whose library prints an error of its own where the variable
    // for its socket's folder is not set, as in a container. Any folder without such a socket does.
    #[cfg(target_os = "linux")]
    if std::env::var_os("XDG_RUNTIME_DIR").is_none() {
        // SAFETY: no other thread is there yet to read the environment.
        unsafe { std::env::set_var("XDG_RUNTIME_DIR", cornerturn::cli::NO_RUNTIME_FOLDER) };
    }
    cornerturn::cli::run(std::env::args_os())
}
