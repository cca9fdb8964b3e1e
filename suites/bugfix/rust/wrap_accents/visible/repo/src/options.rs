//! The command line.

pub struct Options {
    pub width: usize,
    pub prefix: String,
}

impl Options {
    pub fn parse(mut words: impl Iterator<Item = String>) -> Result<Self, String> {
        let mut options = Options {
            width: 72,
            prefix: String::new(),
        };
        while let Some(word) = words.next() {
            let mut value = || words.next().ok_or(format!("{word} needs a value"));
            match word.as_str() {
                "-w" => {
                    let text = value()?;
                    options.width = match text.parse() {
                        Ok(width) if width > 0 => width,
                        _ => return Err(format!("`{text}` is no width")),
                    };
                }
                "-p" => options.prefix = value()?,
                _ => return Err(format!("`{word}` is no option")),
            }
        }
        Ok(options)
    }

    /// How many characters there are for the text of a line.
    pub fn room(&self) -> usize {
        (self.width - self.prefix.len()).max(1)
    }
}
