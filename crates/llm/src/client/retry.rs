//! When to ask again: how long to wait after a fault, and what a service says about it in its headers.
//! Pure: time and chance are handed in.

use std::time::Duration;

use agon_core::ModelFault;
use jiff::Timestamp;
use reqwest::header::HeaderMap;

use crate::error::LlmError;
use crate::spec::Settings;

/// The first wait after anything but a rate limit.
const SHORT: f64 = 0.5;
const SHORT_MULTIPLIER: f64 = 2.0;
/// On top of what a service asks for, at most, so that not everybody comes back at once.
const SPREAD: f64 = 0.1;
/// Nobody waits longer for anything.
const LONGEST: f64 = 86_400.0;

/// How long to wait after the try number `tries` (from 1) has failed; `chance` is from 0 to 1.
pub(super) fn wait(settings: &Settings, error: &LlmError, tries: u32, chance: f64) -> Duration {
    if let Some(asked) = error.retry_after {
        return asked.mul_f64(1.0 + SPREAD * chance);
    }
    let (first, multiplier) = match error.fault {
        ModelFault::RateLimit => (settings.retry_min_wait, settings.retry_multiplier.max(1.0)),
        _ => (SHORT, SHORT_MULTIPLIER),
    };
    let longest = settings.retry_max_wait.clamp(0.0, LONGEST);
    let bound =
        (first * multiplier.powi(tries.saturating_sub(1).min(64) as i32)).clamp(0.0, longest);
    seconds(bound * chance).unwrap_or_default()
}

/// How long an agent's other calls must have been over before a service is believed that has no room: its
/// limits are mostly per minute.
pub(super) fn quiet(settings: &Settings) -> Duration {
    seconds(settings.retry_max_wait.clamp(0.0, LONGEST)).unwrap_or_default()
}

/// What the headers of a refusal ask for.
pub(super) fn asked(headers: &HeaderMap, now: Timestamp) -> Option<Duration> {
    let text = |name: &str| {
        headers
            .get(name)
            .and_then(|value| value.to_str().ok())
            .map(str::trim)
    };
    let number = |text: &str| text.parse::<f64>().ok();
    let millis = || seconds(number(text("retry-after-ms")?)? / 1000.0);
    let after = || {
        let text = text("retry-after")?;
        number(text).map_or_else(|| until(text, now), seconds)
    };
    // Only where none is left: these headers come with every answer.
    let reset = || {
        ["requests", "tokens"]
            .into_iter()
            .filter(|what| text(&format!("x-ratelimit-remaining-{what}")) == Some("0"))
            .filter_map(|what| span(text(&format!("x-ratelimit-reset-{what}"))?))
            .max()
    };
    millis().or_else(after).or_else(reset)
}

fn seconds(count: f64) -> Option<Duration> {
    (0.0..=LONGEST)
        .contains(&count)
        .then(|| Duration::from_secs_f64(count))
}

/// An HTTP date, as `Wed, 21 Oct 2015 07:28:00 GMT`.
fn until(text: &str, now: Timestamp) -> Option<Duration> {
    let then = jiff::fmt::rfc2822::parse(text).ok()?.timestamp();
    let wait = then.duration_since(now).as_secs_f64();
    seconds(wait.max(0.0))
}

/// A span as OpenAI writes it: `1s`, `6m0s`, `12ms`, `1h2m3.5s`; or plain seconds.
fn span(text: &str) -> Option<Duration> {
    if let Ok(count) = text.parse() {
        return seconds(count);
    }
    let mut sum = 0.0;
    let mut rest = text;
    while !rest.is_empty() {
        let digits = rest.find(|c: char| !(c.is_ascii_digit() || c == '.'))?;
        let count: f64 = rest[..digits].parse().ok()?;
        let unit = &rest[digits..];
        let end = unit
            .find(|c: char| c.is_ascii_digit())
            .unwrap_or(unit.len());
        sum += count
            * match &unit[..end] {
                "ms" => 0.001,
                "s" => 1.0,
                "m" => 60.0,
                "h" => 3600.0,
                "d" => 86_400.0,
                _ => return None,
            };
        rest = &unit[end..];
    }
    seconds(sum)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use reqwest::header::{HeaderName, HeaderValue};

    use super::*;

    fn headers(all: &[(&'static str, &str)]) -> HeaderMap {
        let one = |(name, value): &(&'static str, &str)| {
            (
                HeaderName::from_static(name),
                HeaderValue::from_str(value).unwrap(),
            )
        };
        all.iter().map(one).collect()
    }

    fn asks(all: &[(&'static str, &str)]) -> Option<Duration> {
        let now: Timestamp = "2015-10-21T07:27:30Z".parse().unwrap();
        asked(&headers(all), now)
    }

    #[test]
    fn headers_that_ask_for_time() {
        let secs = |count| Some(Duration::from_secs_f64(count));
        assert_eq!(asks(&[("retry-after", "7")]), secs(7.0));
        assert_eq!(asks(&[("retry-after", " 1.5 ")]), secs(1.5));
        let date = "Wed, 21 Oct 2015 07:28:00 GMT";
        assert_eq!(asks(&[("retry-after", date)]), secs(30.0));
        let past = "Wed, 21 Oct 2015 07:00:00 GMT";
        assert_eq!(asks(&[("retry-after", past)]), secs(0.0));
        assert_eq!(
            asks(&[("retry-after", "7"), ("retry-after-ms", "250")]),
            secs(0.25)
        );
        let reset = [
            ("x-ratelimit-remaining-requests", "12"),
            ("x-ratelimit-reset-requests", "9m"),
            ("x-ratelimit-remaining-tokens", "0"),
            ("x-ratelimit-reset-tokens", "6m0.5s"),
        ];
        assert_eq!(asks(&reset), secs(360.5));
        for nonsense in ["-1", "NaN", "inf", "1e300", "soon", "", "4 pears"] {
            assert_eq!(asks(&[("retry-after", nonsense)]), None, "{nonsense}");
        }
        assert_eq!(asks(&[]), None);
    }

    #[test]
    fn waits_grow_to_their_bound() {
        let settings = Settings::default();
        let after =
            |fault, tries| wait(&settings, &LlmError::new(fault, "x"), tries, 1.0).as_secs_f64();
        let rate = [1, 2, 3, 60].map(|tries| after(ModelFault::RateLimit, tries));
        assert_eq!(rate, [8.0, 64.0, 64.0, 64.0]);
        let network = [1, 2, 3, 60].map(|tries| after(ModelFault::Network, tries));
        assert_eq!(network, [0.5, 1.0, 2.0, 64.0]);
    }

    #[test]
    fn what_is_asked_for_is_the_least() {
        let mut error = LlmError::new(ModelFault::RateLimit, "x");
        error.retry_after = Some(Duration::from_secs(100));
        let settings = Settings::default();
        assert_eq!(wait(&settings, &error, 1, 0.0), Duration::from_secs(100));
        assert_eq!(wait(&settings, &error, 1, 1.0), Duration::from_secs(110));
    }

    proptest! {
        #[test]
        fn no_header_and_no_setting_breaks_it(
            text in "\\PC{0,12}",
            number in any::<f64>(),
            factor in any::<f64>(),
            longest in any::<f64>(),
            tries in any::<u32>(),
            chance in 0.0f64..1.0,
        ) {
            let _ = span(&text);
            if let Ok(value) = HeaderValue::from_str(&text) {
                let _ = asked(&[(HeaderName::from_static("retry-after"), value)].into_iter().collect(), Timestamp::UNIX_EPOCH);
            }
            let settings = Settings {
                retry_min_wait: number,
                retry_multiplier: factor,
                retry_max_wait: if longest.is_nan() { 0.0 } else { longest },
                ..Settings::default()
            };
            let error = LlmError::new(ModelFault::RateLimit, "x");
            prop_assert!(wait(&settings, &error, tries, chance).as_secs_f64() <= LONGEST);
        }
    }
}
