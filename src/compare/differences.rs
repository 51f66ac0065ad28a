//! What two records differ in besides their figures.

use super::{DevicePair, MatchedBy};
use crate::device::DeviceKind;
use crate::record::{Device, Environment, Record};

/// Options of `bench` that say what becomes of its results, and nothing of how they come about.
const OUTPUTS: [&str; 8] =
    ["--json", "--csv", "--markdown", "--html", "--save-baseline", "--baseline", "--fail-on-regression", "--quiet"];

/// A sentence for each difference that figures may come from.
pub(super) fn warnings(base: &Record, new: &Record, devices: &[DevicePair]) -> Vec<String> {
    let interrupted = [("base", base), ("new", new)].into_iter().filter(|(_, record)| record.interrupted);
    let mut warnings: Vec<String> =
        interrupted.map(|(name, _)| format!("The {name} run was interrupted: rows are missing.")).collect();
    warnings.extend(different("", facts(&base.environment), facts(&new.environment)));
    let [one, other] = [base, new].map(|record| settings(&record.environment.command));
    warnings.extend(different("", [only_in(&one, &other)], [only_in(&other, &one)]));
    for pair in devices {
        if let (Some(base), Some(new), Some(by)) = (pair.base, pair.new, pair.by) {
            warnings.extend(matched(base, new, by));
            warnings.extend(different(&format!("{}: ", new.id), traits(base), traits(new)));
        }
    }
    warnings
}

/// What is to be said about two devices that are not one by id and name.
fn matched(base: &Device, new: &Device, by: MatchedBy) -> Option<String> {
    match by {
        MatchedBy::IdAndName => None,
        MatchedBy::Name => Some(format!("{} in base is {} in new, matched by name: {}.", base.id, new.id, new.name)),
        MatchedBy::Id => Some(format!("{}: another device, matched by its id alone.", new.id)),
    }
}

/// Something that has a value in either record.
type Fact = (&'static str, String);

fn different<const N: usize>(
    prefix: &str,
    base: [Fact; N],
    new: [Fact; N],
) -> impl Iterator<Item = String> + use<'_, N> {
    let shown = |value: String| if value.is_empty() { "none".into() } else { value };
    let differ = base.into_iter().zip(new).filter(|((_, base), (_, new))| base != new);
    differ.map(move |((what, base), (_, new))| {
        format!("{prefix}Different {what}: {} in base, {} in new.", shown(base), shown(new))
    })
}

fn facts(environment: &Environment) -> [Fact; 4] {
    [
        ("version of cornerturn", environment.version.clone()),
        ("operating system", environment.os.clone()),
        ("processor architecture", environment.arch.clone()),
        ("number of processors", environment.cpus.to_string()),
    ]
}

fn traits(device: &Device) -> [Fact; 7] {
    let bytes = |bytes: Option<u64>| bytes.map_or(String::new(), |bytes| format!("{bytes} B"));
    let kind = match device.kind {
        DeviceKind::Gpu => "gpu",
        DeviceKind::Software => "software",
        DeviceKind::Cpu => "cpu",
    };
    [
        ("name", device.name.clone()),
        ("driver", device.driver.clone()),
        ("kind", kind.into()),
        ("PCI address", device.pci.clone().unwrap_or_default()),
        ("memory", bytes(device.memory_bytes)),
        ("last-level cache", bytes(device.cache_bytes)),
        ("theoretical peak", device.peak.map_or(String::new(), |peak| format!("{} GB/s", peak.gbps))),
    ]
}

/// The settings of one run that the other does not have.
fn only_in(one: &[String], other: &[String]) -> Fact {
    let only: Vec<&str> = one.iter().filter(|option| !other.contains(option)).map(String::as_str).collect();
    ("settings", only.join(" "))
}

/// The options of a command line with their values, in an order that does not depend on how they were typed.
fn settings(command: &[String]) -> Vec<String> {
    let mut options: Vec<String> = Vec::new();
    let mut taken = true;
    for word in command.iter().skip(1) {
        if word.starts_with("--") {
            let name = word.split('=').next().unwrap_or(word);
            taken = !OUTPUTS.contains(&name);
            options.extend(taken.then(|| word.replacen('=', " ", 1)));
        } else if let Some(option) = options.last_mut().filter(|_| taken) {
            *option += &format!(" {word}");
        } else if taken {
            options.push(word.clone());
        }
    }
    options.sort();
    options
}

#[cfg(test)]
mod tests {
    use super::*;

    fn settings_of(command: &str) -> Vec<String> {
        settings(&command.split(' ').map(String::from).collect::<Vec<_>>())
    }

    #[test]
    fn settings_are_the_options_but_for_the_outputs() {
        let one = settings_of("cornerturn bench --size 64x48 --json a.json --element u8 --quiet --csv=x");
        assert_eq!(one, ["--element u8", "--size 64x48", "bench"]);
        assert_eq!(settings_of("ct bench --element=u8 --baseline main --fail-on-regression=5 --size 64x48"), one);
        assert_eq!(settings_of("ct"), [""; 0]);
        let other = settings_of("ct bench --size 64x49 --element u8");
        assert_eq!([only_in(&one, &other).1, only_in(&other, &one).1], ["--size 64x48", "--size 64x49"]);
    }
}
