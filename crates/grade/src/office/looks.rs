//! How letters look, against how they should.

use agon_core::office::{Align as Wanted, StyleTest};
use agon_core::sight::Colour;
use agon_office::{Align, Paint, Run, Style};

/// Sizes are rounded by every program that writes them.
const SIZE: f64 = 0.05;

/// What is wrong with how runs look. Blanks look like nothing, so they don't count; where there is
/// nothing else, `empty` does.
pub(super) fn of_runs<'a>(
    test: &StyleTest,
    runs: impl Iterator<Item = &'a Run>,
    empty: &Style,
    natural: Align,
) -> Option<String> {
    let mut any = false;
    for run in runs.filter(|run| !run.text.trim().is_empty()) {
        any = true;
        if let Some(wrong) = of_style(test, &run.style, natural) {
            return Some(wrong);
        }
    }
    match any {
        true => None,
        false => of_style(test, empty, natural),
    }
}

fn of_style(test: &StyleTest, style: &Style, natural: Align) -> Option<String> {
    let yes_or_no = [
        ("bold", test.bold, style.bold),
        ("italic", test.italic, style.italic),
        ("underlined", test.underline, style.underline),
        ("struck through", test.strike, style.strike),
    ];
    for (name, wanted, found) in yes_or_no {
        match (wanted, found.unwrap_or(false)) {
            (Some(true), false) => return Some(format!("it is not {name}")),
            (Some(false), true) => return Some(format!("it is {name}")),
            _ => {}
        }
    }
    if let Some(wanted) = test.size {
        match style.size {
            Some(found) if (found - wanted).abs() <= SIZE => {}
            Some(found) => return Some(format!("expected {wanted} pt; found {found} pt")),
            None => return Some(format!("expected {wanted} pt; the file says no size")),
        }
    }
    if let Some(wanted) = &test.font {
        match &style.font {
            Some(found) if found.to_lowercase() == wanted.to_lowercase() => {}
            Some(found) => return Some(format!("expected the font {wanted}; found {found:?}")),
            None => return Some(format!("expected the font {wanted}; the file says none")),
        }
    }
    let paints = [
        ("letters", test.colour, style.colour, [0; 3]),
        ("background", test.background, style.background, [255; 3]),
    ];
    for (name, wanted, found, otherwise) in paints {
        let found = match found {
            Some(Paint::Colour(colour)) => colour,
            Some(Paint::Auto) | None => otherwise,
        };
        if let Some(Colour(wanted)) = wanted.filter(|wanted| wanted.0 != found) {
            return Some(format!(
                "{name}: expected {}; found {}",
                hex(wanted),
                hex(found)
            ));
        }
    }
    align(test.align, style.align.unwrap_or(natural))
}

pub(super) fn align(wanted: Option<Wanted>, found: Align) -> Option<String> {
    let found = match found {
        Align::Left => Wanted::Left,
        Align::Centre => Wanted::Centre,
        Align::Right => Wanted::Right,
        Align::Justified => Wanted::Justified,
    };
    let wanted = wanted.filter(|wanted| *wanted != found)?;
    Some(format!(
        "expected it {}; it is {}",
        side(wanted),
        side(found)
    ))
}

fn side(align: Wanted) -> &'static str {
    match align {
        Wanted::Left => "on the left",
        Wanted::Centre => "centred",
        Wanted::Right => "on the right",
        Wanted::Justified => "justified",
    }
}

fn hex(colour: [u8; 3]) -> String {
    format!("#{}", hex::encode(colour))
}
