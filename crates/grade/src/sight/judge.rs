//! One look at a screen.

use std::fs::File;
use std::io::Read;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use agon_core::files::FileTree;
use agon_core::sight::{ProcessTest, TitleTest};
use agon_core::{Region, ScreenPoint, SightTest, Surroundings};
use agon_vision::{Image, Reader, compare, pixel, template};

use super::finding::{SightError, SightFinding, read};
use super::{number, words};
use crate::reason::shown;
use crate::text;

/// The largest file of a template.
const MOST_TEMPLATE: u64 = 32 << 20;
/// How long one look may take where nobody says it.
const LOOKING: Duration = Duration::from_secs(20);
/// So many windows are named when none fits.
const NAMED_WINDOWS: usize = 8;

/// What there is to see.
#[derive(Debug, Clone)]
pub struct Sight<'a> {
    pub last: Arc<Image>,
    /// Before anything was done.
    pub first: Option<Arc<Image>>,
    pub around: Surroundings,
    /// How long has been played, where the world moves by itself.
    pub played: Option<Duration>,
    /// Where templates are found.
    pub files: &'a FileTree,
}

impl Sight<'_> {
    /// Whether the screen has another size than before anything was done: every X client can do that.
    pub fn was_resized(&self) -> bool {
        let size = |image: &Image| (image.width(), image.height());
        let first = self.first.as_deref();
        first.is_some_and(|first| size(first) != size(&self.last))
    }
}

/// Answers a question with one look. Takes its time where text is read or a picture is looked for:
/// not for threads that must answer. What is too much to be looked at has failed: it is on the screen
/// because somebody put it there.
pub fn judge(test: &SightTest, sight: &Sight<'_>) -> Result<SightFinding, SightError> {
    judge_by(test, sight, Instant::now() + LOOKING)
}

pub(super) fn judge_by(
    test: &SightTest,
    sight: &Sight<'_>,
    deadline: Instant,
) -> Result<SightFinding, SightError> {
    match test {
        SightTest::Text {
            region,
            tests,
            number,
        } => {
            // A broken test is found before anything is read.
            words::usable(tests)?;
            let picture = part(&sight.last, *region)?;
            let lines = match read(Reader::shared()?.read_by(&picture, deadline))? {
                Ok(lines) => lines,
                Err(too_much) => return Ok(too_much),
            };
            let found = words::find(tests, &lines)?;
            Ok(match number {
                Some(number) => number::find(number, &lines, sight.played).with(found),
                None => found,
            })
        }
        SightTest::Pixel {
            at,
            colour,
            tolerance,
        } => {
            let found = pixel_at(&sight.last, *at)?;
            let [red, green, blue] = found;
            let holds = pixel::is_like(found, *colour, *tolerance);
            let found = format!(
                "the pixel at {},{} is #{red:02x}{green:02x}{blue:02x}",
                at.x, at.y
            );
            Ok(SightFinding::plain(holds, found))
        }
        SightTest::Changed {
            region,
            share,
            changed,
        } => {
            let first = sight.first.as_ref().ok_or(SightError::NoFirst)?;
            if let Some(region) = region {
                part(&sight.last, Some(*region))?;
            }
            let found = compare::changed_share(first, &sight.last, *region);
            let holds = (found >= *share) == *changed;
            let found = format!("{:.2} % of the pixels have changed", found * 100.0);
            Ok(SightFinding::plain(holds, found))
        }
        SightTest::Template {
            path,
            region,
            likeness,
            shown,
        } => {
            let wanted = load(sight.files, path)?;
            let picture = part(&sight.last, *region)?;
            let best = template::find(&picture, &wanted)?;
            let corner = region.map_or((0, 0), |region| (region.x, region.y));
            Ok(place(best, *likeness, *shown, corner))
        }
        SightTest::Window { title, exists } => window(title, *exists, &sight.around),
        SightTest::Process { app, state } => process(app, *state, &sight.around),
    }
}

/// What the best place says, in a part of the screen that begins at `corner`.
fn place(
    best: Option<template::Found>,
    likeness: f64,
    shown: bool,
    corner: (u32, u32),
) -> SightFinding {
    let Some(best) = best else {
        return SightFinding::plain(!shown, "nothing like it is there");
    };
    let found = format!(
        "the best place is at {},{} with a likeness of {:.3}",
        corner.0 + best.region.x,
        corner.1 + best.region.y,
        best.likeness
    );
    let is_shown = best.likeness >= likeness;
    if !is_shown && !best.whole {
        // A better place may be among those that were not tried.
        let found = format!("too many places are a little like it; name a region; {found}");
        return SightFinding::too_much(found);
    }
    SightFinding::plain(is_shown == shown, found)
}

/// A region of a picture, or all of it.
pub(super) fn part(image: &Arc<Image>, region: Option<Region>) -> Result<Arc<Image>, SightError> {
    match region {
        None => Ok(Arc::clone(image)),
        Some(region) => image.crop(region).map(Arc::new).ok_or(SightError::Outside(
            region,
            image.width(),
            image.height(),
        )),
    }
}

fn pixel_at(image: &Image, at: ScreenPoint) -> Result<[u8; 3], SightError> {
    let place = u32::try_from(at.x).ok().zip(u32::try_from(at.y).ok());
    place.and_then(|(x, y)| image.pixel(x, y)).ok_or_else(|| {
        let region = Region {
            x: at.x.unsigned_abs(),
            y: at.y.unsigned_abs(),
            width: 1,
            height: 1,
        };
        SightError::Outside(region, image.width(), image.height())
    })
}

fn load(files: &FileTree, path: &str) -> Result<Image, SightError> {
    let unusable = |why: String| SightError::Template {
        path: path.to_owned(),
        why,
    };
    let entry = files
        .find(Path::new(path))
        .ok_or_else(|| unusable("there is no such file".to_owned()))?;
    let mut bytes = Vec::new();
    File::open(&entry.source)
        .and_then(|file| file.take(MOST_TEMPLATE + 1).read_to_end(&mut bytes))
        .map_err(|error| unusable(error.to_string()))?;
    if bytes.len() as u64 > MOST_TEMPLATE {
        return Err(unusable("it is larger than 32 MiB".to_owned()));
    }
    Image::from_png(&bytes).map_err(|error| unusable(error.to_string()))
}

fn window(
    title: &TitleTest,
    exists: bool,
    around: &Surroundings,
) -> Result<SightFinding, SightError> {
    let titles = || around.windows.iter().map(|window| window.title());
    let hit = match title {
        TitleTest::Contains(part) => titles().find(|title| title.contains(part.as_str())),
        TitleTest::Matches(expression) => {
            let pattern = text::pattern(expression).map_err(SightError::of_test)?;
            titles().find(|title| pattern.is_match(title.as_bytes()))
        }
    };
    if hit.is_none() && around.windows_left_out > 0 {
        // It may be among those that were not looked at.
        let all = around.windows.len() as u64 + around.windows_left_out;
        let found = format!("there are too many windows to look at: {all}");
        return Ok(SightFinding::too_much(found));
    }
    let found = match hit {
        Some(title) => format!("there is a window {}", shown(title.as_bytes())),
        None if around.windows.is_empty() => "there is no window".to_owned(),
        None => {
            let mut named: Vec<_> = titles()
                .take(NAMED_WINDOWS)
                .map(|title| shown(title.as_bytes()))
                .collect();
            if around.windows.len() > NAMED_WINDOWS {
                named.push("...".to_owned());
            }
            format!("the windows are {}", named.join(", "))
        }
    };
    Ok(SightFinding::plain(hit.is_some() == exists, found))
}

fn process(
    app: &str,
    state: ProcessTest,
    around: &Surroundings,
) -> Result<SightFinding, SightError> {
    let mut apps = around.apps.iter();
    let view = apps
        .find(|view| view.command.contains(app))
        .ok_or_else(|| SightError::NoApp(app.to_owned()))?;
    let holds = match state {
        ProcessTest::Alive(alive) => view.exit.is_none() == alive,
        ProcessTest::Exited(status) => view.exit == Some(status),
    };
    let found = match view.exit {
        None => format!("{} runs", shown(view.command.as_bytes())),
        Some(status) => format!(
            "{} has ended with status {status}",
            shown(view.command.as_bytes())
        ),
    };
    Ok(SightFinding {
        tainted: !view.apart,
        ..SightFinding::plain(holds, found)
    })
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use agon_core::files::FileEntry;
    use agon_core::sight::{AppView, Colour};
    use agon_core::{Digest, WindowView};

    use super::super::finding::Refusal;
    use super::*;
    use crate::sight::drawn::{Canvas, LIGHT};

    const LAMP: Region = Region {
        x: 40,
        y: 20,
        width: 10,
        height: 10,
    };

    fn window_called(title: &str) -> WindowView {
        WindowView::new(title, "class", None, ScreenPoint { x: 0, y: 0 }, (9, 9))
    }

    /// A lamp that was off at first and is on now.
    fn sight(files: &FileTree) -> Sight<'_> {
        let dark = Canvas::new(120, 80);
        Sight {
            last: dark.clone().square(LAMP.x, LAMP.y, 10, LIGHT).image(),
            first: Some(dark.image()),
            around: Surroundings {
                windows: vec![window_called("Terminal"), window_called("Super Hexagon")],
                windows_left_out: 0,
                apps: vec![
                    AppView {
                        command: "xterm -e sh".to_owned(),
                        exit: None,
                        apart: true,
                    },
                    AppView {
                        command: "hexagon --seed 7".to_owned(),
                        exit: Some(3),
                        apart: true,
                    },
                ],
            },
            played: None,
            files,
        }
    }

    fn judged(test: &SightTest) -> SightFinding {
        judge(test, &sight(&FileTree::default())).unwrap()
    }

    fn pixel(x: i32, y: i32, colour: [u8; 3], tolerance: u8) -> SightTest {
        SightTest::Pixel {
            at: ScreenPoint { x, y },
            colour: Colour(colour),
            tolerance,
        }
    }

    fn changed(region: Option<Region>, share: f64, changed: bool) -> SightTest {
        SightTest::Changed {
            region,
            share,
            changed,
        }
    }

    #[test]
    fn pixels() {
        let finding = judged(&pixel(40, 20, [243, 237, 240], 3));
        assert!(finding.holds);
        assert_eq!(finding.found, "the pixel at 40,20 is #f0f0f0");
        assert!(!judged(&pixel(40, 20, [244, 240, 240], 3)).holds);
        assert!(!judged(&pixel(39, 20, LIGHT, 0)).holds);
        for (x, y) in [(120, 0), (0, 80), (-1, 0), (i32::MAX, i32::MIN)] {
            let error = judge(&pixel(x, y, LIGHT, 0), &sight(&FileTree::default()));
            assert!(matches!(error, Err(SightError::Outside(..))), "{x},{y}");
        }
    }

    #[test]
    fn changes_are_counted_against_the_first_screen() {
        assert!(judged(&changed(Some(LAMP), 1.0, true)).holds);
        let finding = judged(&changed(None, 0.01, true));
        assert!(finding.holds);
        assert_eq!(finding.found, "1.04 % of the pixels have changed");
        assert!(!judged(&changed(None, 0.02, true)).holds);
        assert!(judged(&changed(None, 0.02, false)).holds);
        let files = FileTree::default();
        let mut blind = sight(&files);
        blind.first = None;
        let error = judge(&changed(None, 0.5, true), &blind);
        assert!(matches!(error, Err(SightError::NoFirst)));
        let outside = Region { x: 500, ..LAMP };
        let error = judge(&changed(Some(outside), 0.5, false), &sight(&files));
        assert!(matches!(error, Err(SightError::Outside(..))));
    }

    fn template(path: &str, region: Option<Region>, shown: bool) -> SightTest {
        SightTest::Template {
            path: path.to_owned(),
            region,
            likeness: 0.95,
            shown,
        }
    }

    #[test]
    fn templates_are_found_where_they_are() {
        let mut lamp = tempfile::NamedTempFile::new().unwrap();
        // With an edge around it: one colour alone is everywhere.
        let drawn = Canvas::new(14, 14).square(2, 2, 10, LIGHT);
        lamp.write_all(&drawn.png()).unwrap();
        let mut files = FileTree::default();
        let entry = FileEntry {
            path: "lamp.png".into(),
            source: lamp.path().to_owned(),
            executable: false,
            size: 0,
            digest: Digest::of(b""),
        };
        let broken = FileEntry {
            path: "broken.png".into(),
            source: concat!(env!("CARGO_MANIFEST_DIR"), "/Cargo.toml").into(),
            ..entry
        };
        files.push(entry).unwrap();
        files.push(broken).unwrap();
        let sight = sight(&files);
        let finding = judge(&template("lamp.png", None, true), &sight).unwrap();
        assert!(finding.holds, "{}", finding.found);
        assert!(finding.found.contains("at 38,18 "), "{}", finding.found);
        let right = Region {
            x: 60,
            y: 0,
            width: 60,
            height: 80,
        };
        assert!(
            judge(&template("lamp.png", Some(right), false), &sight)
                .unwrap()
                .holds
        );
        let near = Region {
            x: 30,
            y: 10,
            width: 60,
            height: 60,
        };
        let finding = judge(&template("lamp.png", Some(near), true), &sight).unwrap();
        assert!(finding.found.contains("at 38,18 "), "{}", finding.found);
        let huge = Sight {
            last: Canvas::new(8193, 20).image(),
            ..sight.clone()
        };
        for shown in [true, false] {
            let error = judge(&template("lamp.png", None, shown), &huge).unwrap_err();
            assert!(error.to_string().contains("name a region"), "{error}");
        }
        for path in ["none.png", "broken.png"] {
            let error = judge(&template(path, None, true), &sight).unwrap_err();
            assert!(error.to_string().contains(path), "{error}");
        }
    }

    #[test]
    fn a_search_that_was_cut_short_proves_nothing_but_what_it_found() {
        let found = |likeness, whole| {
            Some(template::Found {
                region: LAMP,
                likeness,
                whole,
            })
        };
        let holds = |best, shown| place(best, 0.9, shown, (0, 0)).holds;
        assert!(holds(found(0.95, true), true) && !holds(found(0.95, true), false));
        assert!(holds(found(0.95, false), true) && !holds(found(0.95, false), false));
        assert!(!holds(found(0.5, true), true) && holds(found(0.5, true), false));
        assert!(!holds(found(0.5, false), true) && !holds(found(0.5, false), false));
    }

    fn window(title: TitleTest, exists: bool) -> SightTest {
        SightTest::Window { title, exists }
    }

    #[test]
    fn windows() {
        let contains = |part: &str| TitleTest::Contains(part.to_owned());
        let matches = |text: &str| TitleTest::Matches(text.to_owned());
        let finding = judged(&window(contains("Hexagon"), true));
        assert!(finding.holds);
        assert_eq!(finding.found, r#"there is a window "Super Hexagon""#);
        assert!(!judged(&window(contains("Hexagon"), false)).holds);
        assert!(judged(&window(matches("^Term"), true)).holds);
        let finding = judged(&window(matches("^Hexagon"), true));
        assert!(!finding.holds);
        assert_eq!(
            finding.found,
            r#"the windows are "Terminal", "Super Hexagon""#
        );
        let files = FileTree::default();
        assert!(judge(&window(matches("("), true), &sight(&files)).is_err());
        let mut bare = sight(&files);
        bare.around = Surroundings::default();
        let finding = judge(&window(contains("a"), false), &bare).unwrap();
        assert_eq!(
            (finding.holds, &*finding.found),
            (true, "there is no window")
        );
    }

    #[test]
    fn a_window_behind_more_than_can_be_looked_at_is_not_gone() {
        let files = FileTree::default();
        let mut crowded = sight(&files);
        crowded.around.windows_left_out = 300;
        let settings = TitleTest::Contains("Settings".to_owned());
        for exists in [true, false] {
            let finding = judge(&window(settings.clone(), exists), &crowded).unwrap();
            assert_eq!(
                (finding.holds, finding.refused),
                (false, Some(Refusal::TooMuch))
            );
            assert!(finding.found.contains("302"), "{}", finding.found);
        }
        // What was found is there all the same.
        let terminal = TitleTest::Contains("Terminal".to_owned());
        for exists in [true, false] {
            let finding = judge(&window(terminal.clone(), exists), &crowded).unwrap();
            assert_eq!((finding.holds, finding.refused), (exists, None));
        }
    }

    #[test]
    fn processes() {
        let process = |app: &str, state| SightTest::Process {
            app: app.to_owned(),
            state,
        };
        assert!(judged(&process("xterm", ProcessTest::Alive(true))).holds);
        assert!(!judged(&process("xterm", ProcessTest::Exited(0))).holds);
        assert!(judged(&process("hexagon", ProcessTest::Alive(false))).holds);
        assert!(!judged(&process("hexagon", ProcessTest::Exited(0))).holds);
        let finding = judged(&process("hexagon", ProcessTest::Exited(3)));
        assert!(finding.holds);
        assert_eq!(
            finding.found,
            r#""hexagon --seed 7" has ended with status 3"#
        );
        let files = FileTree::default();
        let mut open = sight(&files);
        open.around.apps[1].apart = false;
        let finding = judge(&process("hexagon", ProcessTest::Exited(3)), &open).unwrap();
        assert!(finding.holds && finding.tainted);
        assert!(!judged(&process("hexagon", ProcessTest::Exited(3))).tainted);
        let error = judge(&process("gimp", ProcessTest::Alive(false)), &sight(&files));
        assert!(matches!(error, Err(SightError::NoApp(_))));
    }
}
