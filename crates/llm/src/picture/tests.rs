//! Pictures within limits, and the way back.

use proptest::prelude::*;

use super::{Limits, Mapping, PictureError, fit, fit_request};
use crate::message::{Image, MediaType, Message, Part, Role, ToolResult};
use crate::request::Request;
use crate::spec::{Provider, Wire};

fn png(width: u32, height: u32, pixel: impl Fn(u32, u32) -> u8) -> Image {
    let mut bytes = Vec::new();
    let mut encoder = png::Encoder::new(&mut bytes, width, height);
    encoder.set_color(png::ColorType::Grayscale);
    encoder.set_compression(png::Compression::Fast);
    let mut writer = encoder.write_header().unwrap();
    let pixels: Vec<u8> = (0..height)
        .flat_map(|y| (0..width).map(move |x| (x, y)))
        .map(|(x, y)| pixel(x, y))
        .collect();
    writer.write_image_data(&pixels).unwrap();
    writer.finish().unwrap();
    Image {
        media: MediaType::Png,
        bytes: bytes.into(),
    }
}

fn claude(model: &str) -> Limits {
    Limits::of(Provider::Anthropic, Wire::Messages, model)
}

#[test]
fn sizes_are_those_of_the_documentation() {
    let old = claude("claude-sonnet-4-5");
    let new = claude("claude-opus-4-7");
    let gpt = Limits::of(Provider::OpenAi, Wire::Chat, "gpt-4o");
    let patches = Limits::of(Provider::OpenAi, Wire::Responses, "gpt-5.4");
    let gemini = Limits::of(Provider::Gemini, Wire::Gemini, "gemini-2.5-pro");
    for (limits, from, to) in [
        // These are documented not to be scaled.
        (old, (1092, 1092), (1092, 1092)),
        (old, (951, 1268), (951, 1268)),
        (old, (819, 1456), (819, 1456)),
        (old, (784, 1568), (784, 1568)),
        (old, (1024, 768), (1024, 768)),
        (old, (1280, 800), (1280, 800)),
        (new, (3840, 2160), (2576, 1449)),
        (new, (1920, 1080), (1920, 1080)),
        (gpt, (1280, 720), (1280, 720)),
        (gpt, (1920, 1080), (1365, 768)),
        (gpt, (10_000, 100), (2048, 20)),
        (patches, (1920, 1080), (1920, 1080)),
        (gemini, (6144, 3072), (3072, 1536)),
        (Limits::NONE, (8192, 8192), (8192, 8192)),
    ] {
        assert_eq!(limits.size(from.0, from.1), to, "{limits:?} {from:?}");
    }
    let (width, height) = old.size(1920, 1080);
    assert!(
        (1440..=1470).contains(&width) && (810..=827).contains(&height),
        "{width}x{height}"
    );
    assert_eq!(Limits::of(Provider::Mock, Wire::Chat, "echo"), Limits::NONE);
    assert_eq!(
        Limits::of(
            Provider::Compatible,
            Wire::Chat,
            "anthropic/claude-opus-4.7"
        ),
        new
    );
    assert_eq!(
        Limits::of(Provider::Compatible, Wire::Chat, "google/gemini-2.5-pro"),
        gemini
    );
}

#[test]
fn a_picture_that_fits_is_not_touched() {
    let image = png(800, 600, |x, _| x as u8);
    let fitted = fit(&image, claude("claude-sonnet-4-5")).unwrap();
    assert!(std::sync::Arc::ptr_eq(&fitted.image.bytes, &image.bytes));
    assert!(fitted.mapping.is_same());
    // Only the header is looked at: the rest may be anything.
    let cut = Image {
        bytes: image.bytes[..40].into(),
        ..image
    };
    assert!(fit(&cut, claude("claude-sonnet-4-5")).is_ok());
}

#[test]
fn a_picture_that_is_too_large_is_scaled_and_shows_the_same() {
    // The left half is dark, and the lower edge is white.
    let image = png(3000, 1500, |x, y| match (x, y) {
        (_, 1400..) => 255,
        (..1500, _) => 20,
        _ => 120,
    });
    let fitted = fit(&image, claude("claude-sonnet-4-5")).unwrap();
    let sent = agon_vision::Image::from_png(&fitted.image.bytes).unwrap();
    assert_eq!((sent.width(), sent.height()), fitted.mapping.sent());
    assert_eq!((3000, 1500), fitted.mapping.original());
    for (x, y, value) in [
        (100, 100, 20),
        (1490, 700, 20),
        (1510, 700, 120),
        (2990, 100, 120),
        (1500, 1450, 255),
    ] {
        let (x, y) = fitted.mapping.to_sent(f64::from(x), f64::from(y));
        assert_eq!(
            sent.pixel(x.round() as u32, y.round() as u32),
            Some([value; 3])
        );
    }
}

#[test]
fn bytes_count_too() {
    // Noise does not get smaller by compression.
    let noise = png(600, 400, |x, y| {
        let mixed =
            (x.wrapping_mul(2_654_435_761) ^ y.wrapping_mul(40_503)).wrapping_mul(2_246_822_519);
        (mixed >> 24) as u8
    });
    let limits = Limits {
        bytes: 20_000,
        ..Limits::NONE
    };
    let fitted = fit(&noise, limits).unwrap();
    assert!(fitted.image.bytes.len() <= 20_000);
    let (width, height) = fitted.mapping.sent();
    assert!(width < 600 && (f64::from(width) / f64::from(height) - 1.5).abs() < 0.05);
    let nothing = Limits {
        bytes: 10,
        ..Limits::NONE
    };
    assert!(matches!(
        fit(&noise, nothing),
        Err(PictureError::TooManyBytes { .. })
    ));
}

#[test]
fn other_kinds_pass_or_are_refused_with_reasons() {
    let gif = |width: u16| Image {
        media: MediaType::Gif,
        bytes: [b"GIF89a".as_slice(), &width.to_le_bytes(), &[100, 0]]
            .concat()
            .into(),
    };
    let limits = claude("claude-sonnet-4-5");
    assert!(fit(&gif(300), limits).unwrap().mapping.is_same());
    let error = fit(&gif(9000), limits).unwrap_err().to_string();
    assert!(
        error.contains("9000x100") && error.contains("send a PNG"),
        "{error}"
    );
    let fake = Image {
        media: MediaType::Png,
        ..gif(300)
    };
    let error = fit(&fake, limits).unwrap_err();
    assert!(
        error.to_string().contains("no image/png that can be read"),
        "{error}"
    );
    let broken = Image {
        bytes: png(3000, 3000, |_, _| 1).bytes[..60].into(),
        ..fake
    };
    assert!(matches!(fit(&broken, limits), Err(PictureError::Broken(_))));
    let huge = png(9000, 1, |_, _| 1);
    assert!(matches!(fit(&huge, limits), Err(PictureError::Broken(_))));
}

#[test]
fn all_pictures_of_a_request_are_fitted() {
    let limits = Limits {
        long: 50,
        ..Limits::NONE
    };
    let small = || Part::Image(png(40, 20, |_, _| 1));
    let large = || Part::Image(png(100, 60, |_, _| 1));
    let result = |parts| {
        Part::ToolResult(ToolResult {
            call: "1".to_owned(),
            name: "t".to_owned(),
            parts,
            is_error: false,
        })
    };
    let fits = Request::new([Message::new(Role::User, [small(), result(vec![small()])])]);
    assert_eq!(fit_request(&fits, limits).unwrap(), None);
    let request = Request::new([
        Message::user("a"),
        Message::new(Role::User, [small(), result(vec![large()]), large()]),
    ]);
    let fitted = fit_request(&request, limits).unwrap().unwrap();
    let sizes = |parts: &[Part]| -> Vec<(u32, u32)> {
        let images = parts.iter().flat_map(|part| match part {
            Part::Image(image) => vec![image.clone()],
            Part::ToolResult(result) => result
                .parts
                .iter()
                .filter_map(|part| match part {
                    Part::Image(image) => Some(image.clone()),
                    _ => None,
                })
                .collect(),
            _ => Vec::new(),
        });
        images
            .map(|image| fit(&image, Limits::NONE).unwrap().mapping.sent())
            .collect()
    };
    assert_eq!(
        sizes(&fitted.messages[1].parts),
        [(40, 20), (50, 30), (50, 30)]
    );
    assert_eq!(fitted.messages[0], request.messages[0]);
}

#[test]
fn many_pictures_have_to_be_smaller() {
    let limits = claude("claude-opus-5-5");
    let wide = png(2400, 10, |_, _| 1);
    let request = |count: usize| {
        let parts = (0..count).map(|_| Part::Image(wide.clone()));
        Request::new([Message::new(Role::User, parts)])
    };
    assert_eq!(fit_request(&request(20), limits).unwrap(), None);
    let fitted = fit_request(&request(21), limits).unwrap().unwrap();
    let Part::Image(image) = &fitted.messages[0].parts[20] else {
        panic!("no picture");
    };
    assert_eq!(fit(image, limits).unwrap().mapping.original(), (2000, 8));
}

proptest! {
    #[test]
    fn sizes_keep_their_ratio_and_never_grow(
        width in 1u32..9000, height in 1u32..9000, model in 0usize..4,
    ) {
        let limits = [
            claude("claude-sonnet-4-5"),
            claude("claude-opus-5-5"),
            Limits::of(Provider::OpenAi, Wire::Chat, "gpt-4o"),
            Limits::of(Provider::OpenAi, Wire::Chat, "gpt-5-mini"),
        ][model];
        let (to_width, to_height) = limits.size(width, height);
        prop_assert!(to_width >= 1 && to_width <= width && to_height >= 1 && to_height <= height);
        prop_assert!(limits.holds(to_width, to_height));
        if limits.holds(width, height) {
            prop_assert_eq!((to_width, to_height), (width, height));
        }
        // Each side is within half a pixel of its exact length, or the one pixel that there must be.
        let scale = f64::from(to_width.max(to_height)) / f64::from(width.max(height));
        for (from, to) in [(width, to_width), (height, to_height)] {
            let off = (f64::from(to) - f64::from(from) * scale).abs();
            prop_assert!(off <= 0.5 + 1e-9 || to == 1);
        }
    }

    #[test]
    fn points_find_their_way_back(
        width in 1u32..4000, height in 1u32..4000, share in 0.05f64..1.0, x in 0.0f64..1.0, y in 0.0f64..1.0,
    ) {
        let smaller = |side: u32| ((f64::from(side) * share) as u32).max(1);
        let mapping = Mapping::between((width, height), (smaller(width), smaller(height)));
        let (x, y) = ((f64::from(width) * x).floor(), (f64::from(height) * y).floor());
        // As a model gives it: a whole pixel of what it saw.
        let (sent_x, sent_y) = mapping.to_sent(x, y);
        let (back_x, back_y) = mapping.to_original(sent_x.round(), sent_y.round());
        prop_assert!((back_x - x).abs() <= mapping.scale_x.max(1.0));
        prop_assert!((back_y - y).abs() <= mapping.scale_y.max(1.0));
        let (again_x, again_y) = mapping.to_sent(back_x, back_y);
        prop_assert!((again_x - sent_x.round()).abs() < 1.0 && (again_y - sent_y.round()).abs() < 1.0);
    }

    #[test]
    fn points_outside_are_brought_inside(x in any::<f64>(), y in any::<f64>()) {
        let mapping = Mapping::between((1920, 1080), (1456, 819));
        let (x, y) = mapping.to_original(x, y);
        prop_assert!((0.0..=1919.0).contains(&x) && (0.0..=1079.0).contains(&y));
    }
}

#[test]
fn a_request_can_not_have_any_number_of_pictures_nor_of_pixels() {
    // The header alone says how large it is; nothing of it is read.
    let huge = |width: u32, height: u32| {
        let mut bytes = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR".to_vec();
        bytes.extend(width.to_be_bytes());
        bytes.extend(height.to_be_bytes());
        bytes.extend([8, 2, 0, 0, 0, 0, 0, 0, 0]);
        Part::Image(Image {
            media: MediaType::Png,
            bytes: bytes.into(),
        })
    };
    let limits = Limits::of(Provider::Anthropic, Wire::Messages, "claude-sonnet-4");
    let of = |parts| fit_request(&Request::new([Message::new(Role::User, parts)]), limits);
    let error = of(vec![huge(20_000, 20_000); 2]).unwrap_err();
    assert!(matches!(error, PictureError::TooManyPixels), "{error}");
    let error = of(vec![huge(1, 1); 1_001]).unwrap_err();
    assert!(matches!(error, PictureError::TooMany(1_001)), "{error}");
}
