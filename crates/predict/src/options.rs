//! What can be said about a model that predicts actions, whichever it is.

/// The names are those of the original's constructor.
#[derive(Debug, Clone, PartialEq)]
pub struct Options {
    /// A section of `config.toml`, or a name such as `openai/gpt-4o` or `local/smollm2`.
    pub model_name: String,
    /// Characters of a prompt; a longer one is cut from the left, and that is told. `None`: all of it.
    pub max_input_size: Option<usize>,
    /// Tokens of an answer.
    pub max_tokens: u64,
    /// Width and height of the screen that windows stand on.
    pub max_screen_size: (u32, u32),
}

impl Default for Options {
    fn default() -> Self {
        Self {
            model_name: "local/smollm2".to_owned(),
            max_input_size: None,
            max_tokens: 4096,
            max_screen_size: (1920, 1080),
        }
    }
}

impl Options {
    pub fn new(model_name: impl Into<String>) -> Self {
        Self {
            model_name: model_name.into(),
            ..Self::default()
        }
    }

    /// The end of a prompt that is not longer than it may be, and how long the whole was if it was cut.
    pub fn cut<'p>(&self, prompt: &'p str) -> (&'p str, Option<usize>) {
        let Some(most) = self.max_input_size else {
            return (prompt, None);
        };
        // Characters are counted from the end, so that a short prompt costs nothing.
        let start = match most {
            0 => Some(prompt.len()),
            _ => prompt.char_indices().rev().nth(most - 1).map(|(at, _)| at),
        };
        match start {
            Some(at) if at > 0 => (&prompt[at..], Some(prompt.chars().count())),
            _ => (prompt, None),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_prompt_loses_its_beginning() {
        let cut = |most, prompt| {
            let options = Options {
                max_input_size: most,
                ..Options::default()
            };
            let (text, was) = options.cut(prompt);
            (text.to_owned(), was)
        };
        assert_eq!(cut(None, "añb"), ("añb".to_owned(), None));
        assert_eq!(cut(Some(3), "añb"), ("añb".to_owned(), None));
        assert_eq!(cut(Some(2), "añb"), ("ñb".to_owned(), Some(3)));
        assert_eq!(cut(Some(0), "añb"), (String::new(), Some(3)));
        assert_eq!(cut(Some(2), ""), (String::new(), None));
    }
}
