//! `cornerturn doctor`, `completions` and `man`, as a user meets them.

use std::process::{Command, Output};

fn run(args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_cornerturn")).args(args).output().unwrap()
}

fn stdout(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned()
}

const COMMANDS: [&str; 8] = ["bench", "compare", "transpose", "profile", "devices", "doctor", "completions", "man"];

#[test]
fn the_doctor_says_how_each_device_is_and_what_to_do() {
    let output = run(&["doctor"]);
    let text = stdout(&output);
    assert!(!text.chars().any(|c| c.is_control() && c != '\n'), "no colour when piped: {text}");
    let lines: Vec<&str> = text.lines().collect();
    for group in ["the machine", "NVIDIA and CUDA", "Vulkan and others", "a transpose on each device"] {
        assert!(lines.contains(&group), "{group} in\n{text}");
    }
    let cpu = lines.iter().find(|line| line.starts_with("  ok    cpu ")).unwrap_or(&"");
    assert!(cpu.ends_with("right: 67×45 f32, by auto"), "{text}");
    for (i, line) in lines.iter().enumerate().filter(|(_, line)| line.starts_with("  fail  ")) {
        assert!(lines[i + 1].trim_start().starts_with("-> "), "`{line}` is without a remedy in\n{text}");
    }
    let works = !text.contains("\nNo GPU works here");
    assert_eq!(output.status.code(), Some(i32::from(!works)), "{text}");
}

#[test]
fn every_shell_gets_a_script_with_every_command() {
    for shell in ["bash", "zsh", "fish", "powershell", "elvish"] {
        let output = run(&["completions", shell]);
        assert_eq!(output.status.code(), Some(0), "{shell}");
        let text = stdout(&output);
        for word in COMMANDS.iter().chain(&["fail-on-regression", "save-baseline"]) {
            assert!(text.contains(word), "{word} for {shell}");
        }
    }
    let output = run(&["completions", "dos"]);
    assert_eq!(output.status.code(), Some(2));
    let message = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(message.contains("bash, elvish, fish, powershell, zsh"), "{message}");
}

#[test]
fn bash_accepts_its_script() {
    let script = stdout(&run(&["completions", "bash"]));
    let Ok(checked) = Command::new("bash").args(["-n", "-c", &script]).output() else { return };
    assert!(checked.status.success(), "{}", String::from_utf8_lossy(&checked.stderr));
}

#[test]
fn every_command_has_a_page_with_its_options_and_examples() {
    let main = stdout(&run(&["man"]));
    assert!(main.starts_with(".ie") && main.contains(".TH cornerturn 1"), "{main}");
    for command in COMMANDS {
        assert!(main.contains(&format!("cornerturn\\-{command}(1)")), "{command} in {main}");
        let page = run(&["man", command]);
        assert_eq!(page.status.code(), Some(0));
        assert!(stdout(&page).contains(&format!(".TH cornerturn-{command} 1")), "{}", stdout(&page));
    }
    let compare = stdout(&run(&["man", "compare"]));
    assert!(compare.contains("fail\\-on\\-regression") && compare.contains("Examples:"), "{compare}");
    let output = run(&["man", "benhc"]);
    let message = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(2));
    assert!(message.starts_with("error: there is no command `benhc`; the commands are bench, compare, "), "{message}");
}

#[test]
fn help_shows_examples() {
    for command in COMMANDS.iter().filter(|command| **command != "devices") {
        let text = stdout(&run(&[command, "--help"]));
        assert!(text.contains("Examples:"), "{command}: {text}");
    }
    assert!(stdout(&run(&["--help"])).contains("Examples:"));
}
