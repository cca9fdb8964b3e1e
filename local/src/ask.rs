//! One question to the model, read from a request and checked. Knows no HTTP and no model.

/// What is to be completed.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Prompt {
    /// As it is.
    Text(String),
    /// To be written in the form that the model was trained for.
    Chat(Vec<Message>),
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Message {
    pub(crate) role: &'static str,
    pub(crate) content: String,
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Ask {
    pub(crate) prompt: Prompt,
    pub(crate) sampling: Sampling,
    pub(crate) max_tokens: u32,
    pub(crate) stop: Vec<String>,
    /// The answer must be a sentence of this grammar (GBNF).
    pub(crate) grammar: Option<String>,
    /// What the one who asks should know about the answer.
    pub(crate) warnings: Vec<String>,
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Sampling {
    /// Always the likeliest token.
    Greedy,
    Random {
        temperature: f32,
        top_p: f32,
        /// 0: all tokens.
        top_k: i32,
        /// `None`: another one each time.
        seed: Option<u32>,
    },
}

impl Prompt {
    fn texts(&mut self) -> Vec<&mut String> {
        match self {
            Self::Text(text) => vec![text],
            Self::Chat(messages) => messages.iter_mut().map(|one| &mut one.content).collect(),
        }
    }

    /// Cuts it from the left until it has `most` characters: the oldest messages first, so that the form
    /// of a chat stays whole. Returns how many characters it had, if it had more.
    pub(crate) fn cut(&mut self, most: usize) -> Option<usize> {
        let mut texts = self.texts();
        let had: usize = texts.iter().map(|text| text.chars().count()).sum();
        let mut over = had.checked_sub(most).filter(|over| *over > 0)?;
        for text in &mut texts {
            let here = text.chars().count();
            let gone = over.min(here);
            let from = text
                .char_indices()
                .nth(gone)
                .map_or(text.len(), |(at, _)| at);
            text.drain(..from);
            over -= gone;
        }
        Some(had)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chat(contents: &[&str]) -> Prompt {
        let message = |content: &&str| Message {
            role: "user",
            content: (*content).to_owned(),
        };
        Prompt::Chat(contents.iter().map(message).collect())
    }

    #[test]
    fn a_text_loses_its_beginning() {
        let mut text = Prompt::Text("grüße, welt".to_owned());
        assert_eq!(text.cut(4), Some(11));
        assert_eq!(text, Prompt::Text("welt".to_owned()));
        assert_eq!(text.cut(4), None, "short enough");
    }

    #[test]
    fn a_chat_loses_its_oldest_words_first() {
        let mut prompt = chat(&["abc", "déf", "ghi"]);
        assert_eq!(prompt.cut(4), Some(9));
        assert_eq!(prompt, chat(&["", "f", "ghi"]));
        assert_eq!(prompt.cut(0), Some(4));
        assert_eq!(prompt, chat(&["", "", ""]));
    }
}
