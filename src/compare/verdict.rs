//! What has become of a row.

use std::fmt;

use serde::Serialize;

use super::interval::Change;

/// Changes of a bandwidth by less than this factor are none.
///
/// The samples of a row are from one run, and what differs between runs (where buffers lie, which clocks a device settles
/// on) is not in them. On an H200, the copies of one matrix in up to eight runs, with a spread of 0.07 % in the median
/// run, differed by up to 1.1 %, but for matrices of a few kB, a copy of which is little but the cost of a launch.
pub const SMALLEST_CHANGE: f64 = 1.02;

/// What has become of a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Verdict {
    /// The whole interval of its change is above [`SMALLEST_CHANGE`].
    Faster,
    /// The whole interval is below the reciprocal of that.
    Slower,
    /// The whole interval is between the two.
    Same,
    /// It reaches over one of them, or cannot be told.
    Unsure,
    /// It has figures in the later record only.
    New,
    /// It has figures in the earlier record only.
    Gone,
}

impl Verdict {
    /// Every verdict.
    pub const ALL: [Verdict; 6] =
        [Verdict::Faster, Verdict::Slower, Verdict::Same, Verdict::Unsure, Verdict::New, Verdict::Gone];

    /// The name in tables.
    pub const fn name(self) -> &'static str {
        match self {
            Verdict::Faster => "faster",
            Verdict::Slower => "slower",
            Verdict::Same => "same",
            Verdict::Unsure => "unsure",
            Verdict::New => "new",
            Verdict::Gone => "gone",
        }
    }

    /// The verdict on a change.
    pub(super) fn of(change: &Change) -> Verdict {
        let Some([low, high]) = change.interval else { return Verdict::Unsure };
        let (least, most) = (1.0 / SMALLEST_CHANGE, SMALLEST_CHANGE);
        if low > most {
            Verdict::Faster
        } else if high < least {
            Verdict::Slower
        } else if low >= least && high <= most {
            Verdict::Same
        } else {
            Verdict::Unsure
        }
    }
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}
