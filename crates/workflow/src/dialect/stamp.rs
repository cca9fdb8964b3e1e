//! Points in time as the original writes them: ISO 8601 without a zone. Ours are in UTC, so that the same
//! record gives the same text everywhere.

use jiff::Timestamp;
use jiff::tz::TimeZone;

/// Parts of a second only where there are any.
pub fn iso(at: Timestamp) -> String {
    let civil = at.to_zoned(TimeZone::UTC).datetime();
    let whole = civil.strftime("%Y-%m-%dT%H:%M:%S");
    match civil.subsec_nanosecond() / 1_000 {
        0 => whole.to_string(),
        micros => format!("{whole}.{micros:06}"),
    }
}

/// Reads what [`iso`] writes; also with a zone, as some versions do.
pub(crate) fn from_iso(text: &str) -> Option<Timestamp> {
    text.parse::<Timestamp>().ok().or_else(|| {
        let civil: jiff::civil::DateTime = text.parse().ok()?;
        Some(civil.to_zoned(TimeZone::UTC).ok()?.timestamp())
    })
}

/// Seconds since 1970.
pub(crate) fn epoch(at: Timestamp) -> f64 {
    at.as_microsecond() as f64 / 1e6
}
