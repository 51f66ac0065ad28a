//! Plateaus and knees in a curve of latencies over set sizes.
//!
//! A level of the hierarchy is a plateau: sizes over which the latency stays the same. Its capacity is the last size
//! before the latency leaves the plateau, the knee.

/// One point of the curve.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Point {
    /// Bytes of the set.
    pub bytes: u64,
    /// Latency, in any unit.
    pub latency: f64,
}

/// Sizes over which the latency stays the same.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Plateau {
    /// The first and the last size of it.
    pub bytes: (u64, u64),
    /// The median of its latencies.
    pub latency: f64,
    /// The first size beyond it, where there is one: the knee lies between the two.
    pub next: Option<u64>,
}

/// A latency that is above a plateau's by more than this part has left it. Where a miss costs ten times a hit, that is
/// when 1.7 % of the loads miss.
const LEAVES: f64 = 0.15;
/// It begins where the latency rises by no more than this part while the size doubles: before, it is still on the slope
/// that leads up to the plateau.
const LEVELS_OFF: f64 = 0.1;
/// So many sizes in a row must be above or below for the plateau to end: one alone is noise.
const IN_A_ROW: usize = 2;
/// A plateau is so many times as wide as it begins, at the least: what is shorter is a slope.
const WIDTH: f64 = 1.6;
/// And it has so many points.
const POINTS: usize = 3;
/// Between two such plateaus there may be a shorter one, so many times as wide as it begins, whose latencies differ by
/// no more than this part: a cache in several parts that are not equally far away has such a step.
const STEP_WIDTH: f64 = 1.3;
const STEP_RISES: f64 = 0.05;

/// The plateaus of a curve, whose points are in the order of their sizes.
pub fn plateaus(curve: &[Point]) -> Vec<Plateau> {
    let mut found: Vec<Plateau> = Vec::new();
    let mut from = 0;
    while from < curve.len() {
        let end = end_of(curve, from);
        match plateau(curve, from, end, WIDTH).filter(|_| levels_off(curve, from)) {
            Some(plateau) => {
                match found.last_mut().filter(|last| plateau.latency <= last.latency * (1.0 + LEAVES)) {
                    // A bump between two plateaus of the same height is none of their ends.
                    Some(last) => *last = Plateau { bytes: (last.bytes.0, plateau.bytes.1), ..plateau },
                    None => found.push(plateau),
                }
                from = end;
            }
            None => from += 1,
        }
    }
    with_steps(curve, found)
}

/// Adds the short plateaus between those found.
fn with_steps(curve: &[Point], found: Vec<Plateau>) -> Vec<Plateau> {
    let mut all: Vec<Plateau> = Vec::new();
    for plateau in found {
        if let Some(before) = all.last() {
            let between = |bytes: u64| bytes > before.bytes.1 && bytes < plateau.bytes.0;
            let from = curve.iter().position(|point| between(point.bytes));
            let end = curve.iter().rposition(|point| between(point.bytes)).map(|last| last + 1);
            let step = from.zip(end).and_then(|(from, end)| step(curve, from, end));
            let apart = |low: f64, high: f64| high > low * (1.0 + LEAVES);
            all.extend(step.filter(|step| apart(before.latency, step.latency) && apart(step.latency, plateau.latency)));
        }
        all.push(plateau);
    }
    all
}

/// The widest stretch of the points from `from` to before `end` that is a step.
fn step(curve: &[Point], from: usize, end: usize) -> Option<Plateau> {
    let stretch = |start: usize| {
        let level = |point: &&Point| (point.latency / curve[start].latency - 1.0).abs() <= STEP_RISES;
        let points = curve[start..end].iter().take_while(level).count();
        plateau(curve, start, start + points, STEP_WIDTH)
    };
    let width = |plateau: &Plateau| plateau.bytes.1 as f64 / plateau.bytes.0 as f64;
    (from..end).filter_map(stretch).max_by(|a, b| width(a).total_cmp(&width(b)))
}

/// The index after the last point of a plateau that begins at `from`.
fn end_of(curve: &[Point], from: usize) -> usize {
    let mut latencies = vec![curve[from].latency];
    let mut end = from + 1;
    let mut outside = 0;
    for (at, point) in curve.iter().enumerate().skip(from + 1) {
        if (point.latency / median(&latencies) - 1.0).abs() <= LEAVES {
            outside = 0;
            latencies.push(point.latency);
            end = at + 1;
        } else {
            outside += 1;
        }
        if outside == IN_A_ROW {
            break;
        }
    }
    end
}

/// Whether the latency rises little from `from` on until the size has doubled, as more than one point has it.
fn levels_off(curve: &[Point], from: usize) -> bool {
    let start = curve[from];
    let end =
        curve[from..].iter().position(|point| point.bytes >= 2 * start.bytes).map_or(curve.len() - 1, |n| from + n);
    let low = |point: &Point| point.latency <= start.latency * (1.0 + LEVELS_OFF);
    curve[end..].iter().take(IN_A_ROW).all(low)
}

fn plateau(curve: &[Point], from: usize, end: usize, width: f64) -> Option<Plateau> {
    let points = &curve[from..end];
    let (first, last) = (points.first()?, points.last()?);
    let wide = last.bytes as f64 >= width * first.bytes as f64;
    let latencies: Vec<f64> = points.iter().map(|point| point.latency).collect();
    (wide && points.len() >= POINTS).then(|| Plateau {
        bytes: (first.bytes, last.bytes),
        latency: median(&latencies),
        next: curve.get(end).map(|point| point.bytes),
    })
}

fn median(values: &[f64]) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let middle = sorted.len() / 2;
    if sorted.len().is_multiple_of(2) { (sorted[middle - 1] + sorted[middle]) / 2.0 } else { sorted[middle] }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A hierarchy of levels, each a capacity and a latency, as a chase with random replacement sees it: of a set
    /// larger than a level, the part that fits hits there.
    fn curve(levels: &[(u64, f64)], points_an_octave: u32, noise: f64) -> Vec<Point> {
        let (smallest, largest) = (1024.0_f64, 240.0 * 1024.0 * 1024.0);
        let octaves = (largest / smallest).log2();
        let mut seed = 1_u64;
        let mut random = move || {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (seed >> 33) as f64 / f64::from(1_u32 << 30) - 1.0
        };
        let count = (octaves * f64::from(points_an_octave)).ceil() as u32;
        let sizes = (0..=count).map(|i| (smallest * 2_f64.powf(f64::from(i) / f64::from(points_an_octave))) as u64);
        let latency = |bytes: u64| {
            let mut reached = 0.0;
            let mut sum = 0.0;
            for (capacity, latency) in levels {
                let hits = (*capacity as f64 / bytes as f64).min(1.0) - reached;
                sum += hits * latency;
                reached += hits;
            }
            sum
        };
        sizes.map(|bytes| Point { bytes, latency: latency(bytes) * (1.0 + noise * random()) }).collect()
    }

    const H200: [(u64, f64); 3] = [(200 << 10, 33.0), (50 << 20, 270.0), (u64::MAX, 700.0)];

    #[test]
    fn capacities_and_latencies_are_found_with_and_without_noise() {
        for (points, noise) in [(2, 0.0), (4, 0.0), (4, 0.03), (8, 0.05)] {
            let found = plateaus(&curve(&H200, points, noise));
            let within = |value: f64, expected: f64, part: f64| (value / expected - 1.0).abs() <= part;
            assert!(found.len() >= 2, "{found:?}");
            let step = 2_f64.powf(1.0 / f64::from(points)) - 1.0;
            assert!(within(found[0].bytes.1 as f64, f64::from(200 << 10), step + 0.03), "{found:?}");
            assert!(within(found[0].latency, 33.0, 0.05), "{found:?}");
            // The slope up to the second level ends in it.
            assert!(within(found[1].latency, 270.0, 0.15), "{found:?}");
            assert!(within(found[1].bytes.1 as f64, f64::from(50 << 20), step + 0.2), "{found:?}");
        }
    }

    #[test]
    fn a_cache_in_two_parts_has_a_step_in_between() {
        const MIB: f64 = 1048576.0;
        // The levels of a GPU whose last cache is in two parts.
        let latency = |mib: f64| match mib {
            ..0.2 => 16.0,
            ..0.3 => 16.0 + 1200.0 * (mib - 0.2),
            ..28.0 => 142.0,
            ..34.0 => 142.0 + 20.0 * (mib - 28.0),
            ..57.0 => 265.0,
            ..70.0 => 335.0,
            _ => 345.0,
        };
        let sizes = (0..=71).map(|i| (1024.0 * 2_f64.powf(f64::from(i) / 4.0)) as u64);
        let point = |bytes: u64| Point { bytes, latency: latency(bytes as f64 / MIB) };
        let found = plateaus(&sizes.map(point).collect::<Vec<_>>());
        assert_eq!(found.iter().map(|plateau| plateau.latency).collect::<Vec<_>>(), [16.0, 142.0, 265.0, 345.0]);
        let ends = found.iter().map(|plateau| plateau.bytes.1 as f64 / MIB).collect::<Vec<_>>();
        assert!((22.0..29.0).contains(&ends[1]) && (53.0..57.0).contains(&ends[2]), "{ends:?}");
    }

    #[test]
    fn a_flat_curve_is_one_plateau_without_a_knee() {
        let flat = curve(&[(u64::MAX, 100.0)], 4, 0.04);
        let found = plateaus(&flat);
        assert_eq!(found.len(), 1);
        assert_eq!(found[0].bytes, (1024, flat.last().unwrap().bytes));
        assert_eq!(found[0].next, None);
    }

    #[test]
    fn one_point_that_sticks_out_ends_no_plateau() {
        let mut bumpy = curve(&H200, 4, 0.01);
        bumpy[5].latency *= 8.0;
        bumpy[40].latency *= 0.3;
        let (clean, found) = (plateaus(&curve(&H200, 4, 0.01)), plateaus(&bumpy));
        assert_eq!(found[0].bytes.1, clean[0].bytes.1);
        assert_eq!(found[1].bytes.1, clean[1].bytes.1);
    }

    #[test]
    fn few_points_make_no_plateau() {
        assert_eq!(plateaus(&[]), []);
        let point = |bytes, latency| Point { bytes, latency };
        assert_eq!(plateaus(&[point(1024, 1.0), point(4096, 1.0)]), []);
        // A steady slope has none either.
        let slope: Vec<Point> = (10..28).map(|i| point(1 << i, 1.4_f64.powi(i))).collect();
        assert_eq!(plateaus(&slope), []);
    }
}
