//! What follows an agent's name: `react:pictures=3,side=1024`. The same for every agent that sees; each says
//! what holds if nothing is said.

use std::path::PathBuf;

use agon_llm::ModelSpec;

use super::sight::Sizing;

/// The form, for people.
pub(super) const FORM: &str = "pictures=N,answers=N,side=PIXELS,prompt=FILE";

/// More pictures than this are more than any provider takes well.
const MOST_PICTURES: usize = 100;

/// A screen that is shown smaller than this can't be read.
const LEAST_SIDE: u32 = 256;

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Options {
    pictures: Option<usize>,
    answers: Option<usize>,
    side: Option<u32>,
    prompt: Option<PathBuf>,
}

impl Options {
    /// A text without `=` is the file of a prompt.
    pub fn parse(text: &str) -> Result<Self, String> {
        let mut options = Self::default();
        if !text.is_empty() && !text.contains('=') {
            options.prompt = Some(PathBuf::from(text));
            return Ok(options);
        }
        for pair in text
            .split(',')
            .map(str::trim)
            .filter(|pair| !pair.is_empty())
        {
            let (key, value) = pair.split_once('=').unwrap_or((pair, ""));
            options.set(key.trim(), value.trim())?;
        }
        Ok(options)
    }

    fn set(&mut self, key: &str, value: &str) -> Result<(), String> {
        let wrong = |range: String| format!("`{key}` is `{value}`: give {range}");
        match key {
            "pictures" => {
                let count = value.parse().ok();
                let count = count.filter(|count| (1..=MOST_PICTURES).contains(count));
                let range = || wrong(format!("a number from 1 to {MOST_PICTURES}"));
                self.pictures = Some(count.ok_or_else(range)?);
            }
            "answers" => {
                let count = value.parse().ok().filter(|count| *count >= 1);
                self.answers = Some(count.ok_or_else(|| wrong("a number from 1 on".to_owned()))?);
            }
            "side" => {
                let side = value.parse().ok().filter(|side| *side >= LEAST_SIDE);
                let range = || wrong(format!("pixels from {LEAST_SIDE} on"));
                self.side = Some(side.ok_or_else(range)?);
            }
            "prompt" if !value.is_empty() => self.prompt = Some(PathBuf::from(value)),
            _ => return Err(format!("`{key}` is no option: there are {FORM}")),
        }
        Ok(())
    }

    /// Pictures that the model is shown, the newest.
    pub fn pictures(&self, usual: usize) -> usize {
        self.pictures.unwrap_or(usual)
    }

    /// Earlier answers that it is shown.
    pub fn answers(&self) -> usize {
        self.answers.unwrap_or(usize::MAX)
    }

    /// What the provider takes, and not larger than was asked for.
    pub fn sizing(&self, model: &ModelSpec) -> Sizing {
        let mut sizing = Sizing::of(model);
        if let Some(side) = self.side {
            sizing.limits.long = sizing.limits.long.min(side);
            sizing.limits.short = sizing.limits.short.min(side);
        }
        sizing
    }

    /// The file of a prompt that stands for the agent's own.
    pub fn prompt(&self) -> Option<&PathBuf> {
        self.prompt.as_ref()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_are_pairs_or_the_file_of_a_prompt() {
        let options =
            Options::parse(" pictures=3, answers=5,side=1024,prompt=my prompt.j2").unwrap();
        assert_eq!(options.pictures(1), 3);
        assert_eq!(options.answers(), 5);
        assert_eq!(options.side, Some(1024));
        assert_eq!(options.prompt(), Some(&PathBuf::from("my prompt.j2")));
        let file = Options::parse("prompts/mine.j2").unwrap();
        assert_eq!(file.prompt(), Some(&PathBuf::from("prompts/mine.j2")));
        let none = Options::parse("").unwrap();
        assert_eq!((none.pictures(7), none.answers()), (7, usize::MAX));
    }

    #[test]
    fn what_is_no_option_is_refused_with_what_there_is() {
        for (text, word) in [
            ("picture=3", "pictures=N"),
            ("pictures=0", "from 1 to 100"),
            ("pictures=x", "from 1 to 100"),
            ("answers=0", "from 1 on"),
            ("side=10", "from 256"),
            ("prompt=", "prompt=FILE"),
        ] {
            let why = Options::parse(text).unwrap_err();
            assert!(why.contains(word), "{text}: {why}");
        }
    }
}
