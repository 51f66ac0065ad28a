//! `cornerturn completions` and `cornerturn man`: what a shell and `man` want to know of the command line.

use std::process::ExitCode;

use clap::CommandFactory;
use clap_complete::Shell;
use clap_mangen::Man;

use super::{Cli, Failure};

/// The options of `cornerturn completions`.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  cornerturn completions bash > ~/.local/share/bash-completion/completions/cornerturn
  cornerturn completions zsh > \"${fpath[1]}/_cornerturn\"
  cornerturn completions fish > ~/.config/fish/completions/cornerturn.fish
  cornerturn completions powershell >> $PROFILE")]
pub struct Completions {
    /// The shell that is to complete
    shell: Shell,
}

/// The options of `cornerturn man`.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  cornerturn man | man -l -
  cornerturn man bench > ~/.local/share/man/man1/cornerturn-bench.1")]
pub struct Page {
    /// The command whose page it is [default: that of the program]
    #[arg(value_name = "COMMAND")]
    command: Option<String>,
}

/// Prints what a shell runs to complete our command lines.
pub fn completions(args: &Completions) -> Result<ExitCode, Failure> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut Cli::command(), "cornerturn", &mut script);
    print(script)
}

/// Prints a page of the manual.
pub fn page(args: &Page) -> Result<ExitCode, Failure> {
    let mut program = Cli::command();
    // Gives the commands their full names.
    program.build();
    let command = match &args.command {
        None => &program,
        Some(name) => program.find_subcommand(name).ok_or_else(|| unknown(name, &program))?,
    };
    let mut page = Vec::new();
    let source = concat!("cornerturn ", env!("CARGO_PKG_VERSION"));
    let written = Man::new(command.clone()).source(source).manual("Cornerturn").render(&mut page);
    written.map_err(|error| Failure::Run(format!("cannot make the page: {error}")))?;
    print(page)
}

fn unknown(name: &str, program: &clap::Command) -> Failure {
    let names: Vec<&str> = program.get_subcommands().map(clap::Command::get_name).collect();
    Failure::Input(format!("there is no command `{name}`; the commands are {}", names.join(", ")))
}

fn print(text: Vec<u8>) -> Result<ExitCode, Failure> {
    super::print(&String::from_utf8_lossy(&text)).map(|()| ExitCode::SUCCESS)
}
