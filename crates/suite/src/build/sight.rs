//! Tests of the screen: from flat keys to what is looked for. The same keys make a check and an
//! end of a real-time world.

use std::path::Path;

use agon_core::check::TextTest;
use agon_core::sight::{NumberTest, ProcessTest, TitleTest};
use agon_core::{EnvironmentKind, Region, ScreenPoint, SightTest};

use super::check::{Reader, Setting, misplaced_keys};
use crate::format::{CheckFile, CheckType, NumberFile, ShownNumberFile};
use crate::source::{Node, NodeError};

const SHARE: f64 = 0.01;
const LIKENESS: f64 = 0.9;

/// Reads an entry of `ends`.
pub(super) fn end(
    node: &Node,
    setting: &Setting<'_>,
    errors: &mut Vec<NodeError>,
) -> Option<SightTest> {
    let file: CheckFile = match node.read() {
        Ok(file) => file,
        Err(error) => {
            errors.push(error.at(node.head()));
            return None;
        }
    };
    let name = file.kind.name();
    if !file.kind.is_sight() {
        let known: Vec<_> = CheckType::sights().map(CheckType::name).collect();
        errors.push(
            NodeError::new(format!(
                "`{name}` can't be looked for while a task is played"
            ))
            .help(format!("ends are of type: {}", known.join(", ")))
            .at(node.get("type").unwrap_or(node).head()),
        );
        return None;
    }
    let before = errors.len();
    let keys: Vec<_> = file.kind.keys_of_its_own().collect();
    misplaced_keys(&format!("{name} end"), &keys, node, errors);
    let reader = Reader {
        file: &file,
        node,
        setting,
    };
    match reader.sight() {
        Ok(test) if errors.len() == before => Some(test),
        Ok(_) => None,
        Err(error) => {
            if errors.len() == before {
                errors.push(error);
            }
            None
        }
    }
}

impl Reader<'_> {
    pub(super) fn sight(&self) -> Result<SightTest, NodeError> {
        let kind = self.setting.environment.kind;
        if kind != EnvironmentKind::Desktop {
            return Err(self
                .wrong("type", format!("a {kind} environment has no screen"))
                .help("screens are for environment: {kind: desktop}"));
        }
        match self.file.kind {
            CheckType::Pixel => self.pixel(),
            CheckType::RegionChanged => Ok(SightTest::Changed {
                region: self.region()?,
                share: self.share("share", self.file.share, SHARE)?,
                changed: self.file.changed.unwrap_or(true),
            }),
            CheckType::Template => self.template(),
            CheckType::Window => self.window(),
            CheckType::Process => self.process(),
            _ => self.screen_text(),
        }
    }

    fn screen_text(&self) -> Result<SightTest, NodeError> {
        let tests: Vec<TextTest> = self.text_tests()?;
        let number = match &self.file.number {
            Some(NumberFile::Shown(number)) => Some(self.shown_number(number)?),
            Some(NumberFile::Plain(_) | NumberFile::Said(_)) | None => None,
        };
        if tests.is_empty() && number.is_none() {
            return Err(self.nothing_to_test());
        }
        Ok(SightTest::Text {
            region: self.region()?,
            tests,
            number,
        })
    }

    fn shown_number(&self, number: &ShownNumberFile) -> Result<NumberTest, NodeError> {
        if number
            .after
            .as_ref()
            .is_some_and(|word| word.trim().is_empty())
        {
            return Err(self.wrong("number", "`after` is empty: leave it out for any number"));
        }
        if let (Some(least), Some(most)) = (number.at_least, number.at_most)
            && least > most
        {
            let message = format!("no number is at least {least} and at most {most}");
            return Err(self.wrong("number", message));
        }
        Ok(NumberTest {
            after: number.after.clone(),
            form: number.form.into(),
            at_least: number.at_least,
            at_most: number.at_most,
            within_play: number.within_play,
        })
    }

    fn pixel(&self) -> Result<SightTest, NodeError> {
        let file = self.file;
        let (Some(x), Some(y)) = (file.x, file.y) else {
            return Err(self.wrong("type", "this pixel check needs `x` and `y`"));
        };
        let Some(colour) = file.colour else {
            return Err(self.wrong("type", "this pixel check needs `colour`"));
        };
        let tolerance = file.tolerance.unwrap_or(0.0);
        if !(0.0..=255.0).contains(&tolerance) || tolerance.fract() != 0.0 {
            let message = "the tolerance of a pixel is a whole number from 0 to 255";
            return Err(self.wrong("tolerance", message));
        }
        let one = Region {
            x,
            y,
            width: 1,
            height: 1,
        };
        let at = i32::try_from(x).ok().zip(i32::try_from(y).ok());
        let Some((x, y)) = at.filter(|_| self.on_screen(one)) else {
            return Err(self.wrong("x", format!("{x},{y} is not on the screen")));
        };
        Ok(SightTest::Pixel {
            at: ScreenPoint { x, y },
            colour: colour.0,
            tolerance: tolerance as u8,
        })
    }

    fn template(&self) -> Result<SightTest, NodeError> {
        let path = self.needed("path", self.file.path.as_ref())?;
        if self.setting.verify.find(Path::new(path)).is_none() {
            return Err(self
                .wrong("path", format!("there is no file `verify/{path}`"))
                .help("templates are PNG files below `verify/` in the task's folder"));
        }
        Ok(SightTest::Template {
            path: path.clone(),
            region: self.region()?,
            likeness: self.share("likeness", self.file.likeness, LIKENESS)?,
            shown: self.file.shown.unwrap_or(true),
        })
    }

    fn window(&self) -> Result<SightTest, NodeError> {
        let title = match (&self.file.title, &self.file.matches) {
            (Some(title), None) => TitleTest::Contains(self.needed("title", Some(title))?.clone()),
            (None, Some(matches)) => {
                self.regex("matches", matches)?;
                TitleTest::Matches(matches.clone())
            }
            (Some(_), Some(_)) => {
                return Err(self.wrong("matches", "write one of `title` and `matches`"));
            }
            (None, None) => {
                return Err(self.wrong("type", "this window check needs `title` or `matches`"));
            }
        };
        Ok(SightTest::Window {
            title,
            exists: self.file.exists.unwrap_or(true),
        })
    }

    fn process(&self) -> Result<SightTest, NodeError> {
        let app = self.needed("app", self.file.app.as_ref())?;
        let apps = &self.setting.environment.apps;
        match apps.iter().filter(|known| known.contains(app)).count() {
            1 => {}
            0 => {
                let error = self.wrong("app", format!("`{app}` is none of the environment's apps"));
                return Err(match apps.is_empty() {
                    true => {
                        error.help("it has none: start programs with environment: {apps: [...]}")
                    }
                    false => error.help(format!("they are: {}", apps.join(", "))),
                });
            }
            _ => {
                return Err(self
                    .wrong("app", format!("`{app}` fits several apps"))
                    .help(format!("write more of one: {}", apps.join(", "))));
            }
        }
        let state = match (self.file.alive, self.file.exit_status) {
            (Some(alive), None) => ProcessTest::Alive(alive),
            (None | Some(false), Some(status)) => ProcessTest::Exited(status),
            (Some(true), Some(_)) => {
                return Err(self.wrong("alive", "a process that runs has no exit status"));
            }
            (None, None) => {
                return Err(self.wrong("type", "this process check needs `alive` or `exit_status`"));
            }
        };
        Ok(SightTest::Process {
            app: app.clone(),
            state,
        })
    }

    fn region(&self) -> Result<Option<Region>, NodeError> {
        let region = self.file.region.map(|region| region.0);
        match region {
            Some(region) if !self.on_screen(region) => {
                Err(self.wrong("region", "this region reaches out of the screen"))
            }
            _ => Ok(region),
        }
    }

    /// Where the task says how large its screen is.
    fn on_screen(&self, region: Region) -> bool {
        let size = self.setting.environment.screen.as_deref().and_then(|size| {
            let (width, height) = size.split_once('x')?;
            Some((width.parse().ok()?, height.parse().ok()?))
        });
        size.is_none_or(|(width, height): (u32, u32)| {
            region.x.saturating_add(region.width) <= width
                && region.y.saturating_add(region.height) <= height
        })
    }

    /// More than 0 and at most 1: 0 could never fail.
    fn share(&self, key: &str, value: Option<f64>, default: f64) -> Result<f64, NodeError> {
        let value = value.unwrap_or(default);
        if value > 0.0 && value <= 1.0 {
            return Ok(value);
        }
        Err(self.wrong(key, format!("`{key}` is more than 0 and at most 1")))
    }
}
