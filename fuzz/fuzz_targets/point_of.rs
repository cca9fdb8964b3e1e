//! Any text: no panic, and a point is a point.

#![no_main]

use agon_fuzz::parse;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    if let Ok(point) = parse::point_of(text) {
        assert!(point.x.is_finite() && point.y.is_finite());
        let written = format!("[{:?}, {:?}]", point.x, point.y);
        assert_eq!(parse::point_of(&written), Ok(point), "{written}");
    }
});
