//! Tells one file of weights from another without reading all of it: files of many gigabytes are named
//! in every manifest.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;

use agon_core::digest::Hasher;
use agon_core::{Digest, ModelFault};

use super::weights::{SMOLLM2, file};
use crate::error::LlmError;

/// Read in full: it holds the vocabulary and the template of chats.
const HEAD: u64 = 4 << 20;

/// Pieces of the rest that are read, spread evenly, and bytes of each.
const PIECES: u64 = 64;
const PIECE: usize = 64 << 10;

/// Over the length of a local model's file, its head and pieces of the rest. `None`: its name says it
/// all.
pub fn fingerprint(model: &str) -> Result<Option<Digest>, LlmError> {
    if model == SMOLLM2 {
        return Ok(None);
    }
    let read = |path| File::open(path).and_then(|file| digest(&file));
    read(file(model)?)
        .map(Some)
        .map_err(|error| LlmError::new(ModelFault::Setup, format_args!("local/{model}: {error}")))
}

fn digest(file: &File) -> io::Result<Digest> {
    let length = file.metadata()?.len();
    let mut hasher = Hasher::default();
    hasher.update(&length.to_le_bytes());
    let mut piece = vec![0; PIECE];
    let mut take = |at: u64| -> io::Result<()> {
        let bytes = PIECE.min(usize::try_from(length - at).unwrap_or(PIECE));
        let piece = &mut piece[..bytes];
        file.read_exact_at(piece, at)?;
        hasher.update(piece);
        Ok(())
    };
    for at in (0..HEAD.min(length)).step_by(PIECE) {
        take(at)?;
    }
    let rest = length.saturating_sub(HEAD);
    for piece in 1..=PIECES.min(rest / PIECE as u64) {
        // The last one ends with the file.
        let end = HEAD + rest / PIECES * piece + if piece == PIECES { rest % PIECES } else { 0 };
        take(end - PIECE as u64)?;
    }
    Ok(hasher.finish())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn other_weights_have_another_fingerprint() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("w.gguf");
        let name = path.to_str().unwrap();
        let found = |bytes: &[u8]| {
            std::fs::write(&path, bytes).unwrap();
            fingerprint(name).unwrap().unwrap()
        };
        let mut weights = vec![7; (HEAD as usize) * 3];
        weights[..4].copy_from_slice(b"GGUF");
        let first = found(&weights);
        assert_eq!(found(&weights), first);
        let (head, last) = (HEAD as usize - 1, weights.len() - 1);
        for at in [head, last] {
            let mut other = weights.clone();
            other[at] = 8;
            assert_ne!(found(&other), first, "{at}");
        }
        assert_ne!(found(&weights[..last]), first);
        assert_ne!(found(b"GGUF"), found(b"GGUF and more"));
        assert_eq!(fingerprint(SMOLLM2).unwrap(), None);
    }
}
