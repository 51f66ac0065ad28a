//! The `cornerturn` program: see [`cornerturn::cli`].

use std::process::ExitCode;

fn main() -> ExitCode {
    cornerturn::cli::run(std::env::args_os())
}
