//! How much may come out of a file. What stands in it once can be referred to a million times, so what is
//! made of it is counted as well.

use crate::error::OfficeError;

/// Letters of cells, formulas and repeated tables together.
const LETTERS: usize = 64 << 20;
/// Longest name of a font or a style.
const NAME: usize = 256;

#[derive(Debug)]
pub(crate) struct Budget {
    left: usize,
}

impl Budget {
    pub(crate) fn new() -> Self {
        Self { left: LETTERS }
    }

    pub(crate) fn spend(&mut self, letters: usize) -> Result<(), OfficeError> {
        let left = self.left.checked_sub(letters);
        self.left = left.ok_or(OfficeError::TooLarge("it repeats too much"))?;
        Ok(())
    }
}

/// A name, unless it is none that anybody would give.
pub(crate) fn name(name: &str) -> Option<String> {
    (name.len() <= NAME).then(|| name.to_owned())
}
