//! What the agent sees of a file: text, some numbered lines, a picture, or the entries of a folder.

use agon_core::Observation;
use agon_core::observation::ObservationKind;
use agon_sandbox::{Sandbox, SandboxError};

use super::super::drawn;
use super::apart::apart;
use super::{Files, Place, denied, folder, picture, view};

/// How much of a file is looked at for its lines.
const LOOKED_AT: usize = 8 << 20;

/// Where a NUL byte makes a file no text.
const PROBED: usize = 8 << 10;

impl Files {
    pub(super) async fn read(
        &self,
        sandbox: &dyn Sandbox,
        place: &Place<'_>,
        lines: Option<[i64; 2]>,
    ) -> Result<Observation, SandboxError> {
        let most = match lines {
            Some(_) => LOOKED_AT,
            None => drawn::LARGEST + 1,
        };
        let content = match sandbox.find(&place.full, most as u64).await {
            Ok(Some(content)) => content,
            Ok(None) => return denied(format!("{}: No such file or directory", place.named)),
            Err(SandboxError::Denied(why)) => {
                return match folder::list(sandbox, &place.full, self.view).await {
                    Ok(Some(listed)) => Ok(listed),
                    Ok(None) => denied(why),
                    Err(SandboxError::Denied(unlisted)) => {
                        denied(format!("{why}; it can't be listed as a folder: {unlisted}"))
                    }
                    Err(error) => Err(error),
                };
            }
            Err(error) => return Err(error),
        };
        if let Some(picture) = picture::of(&content) {
            return match picture {
                Ok(picture) => {
                    let text = format!("{} is a picture ({})", place.named, picture.format);
                    let mut seen = Observation::new(ObservationKind::Content, text);
                    seen.pictures.push(picture);
                    Ok(seen)
                }
                Err(why) => denied(format!("{}: {why}", place.named)),
            };
        }
        if content.iter().take(PROBED).any(|&byte| byte == 0) {
            return denied(format!(
                "{} is no text: look at it with commands, such as `xxd` or `strings`",
                place.named
            ));
        }
        let (named, view) = (place.named.to_owned(), self.view);
        apart(content.len(), move || match lines {
            None => {
                let text = String::from_utf8_lossy(&content);
                let shown = view::head(&text, view);
                let mut seen = Observation::new(ObservationKind::Content, shown);
                seen.omitted = (text.len() - shown.len()) as u64;
                Ok(seen)
            }
            Some(range) => numbered(&named, &content, range, view, content.len() == most),
        })
        .await?
    }
}

fn numbered(
    named: &str,
    content: &[u8],
    [first, last]: [i64; 2],
    view: usize,
    more: bool,
) -> Result<Observation, SandboxError> {
    let text = String::from_utf8_lossy(content);
    let lines = view::lines(&text);
    let count = lines.len();
    let first = usize::try_from(first).unwrap_or(0);
    let last = match last {
        -1 => count,
        last => usize::try_from(last).unwrap_or(0),
    };
    if first > count.max(1) {
        return denied(format!("{named} has only {count} lines"));
    }
    if first == 0 || (last < first && count > 0) {
        return denied(format!(
            "`lines` must be the first and the last line, from 1 to {count}; -1 is the end"
        ));
    }
    let shown = view::numbered(&lines, first - 1..last, view);
    let mut text = shown.text;
    if let Some(next) = shown.next {
        let last = last.min(count);
        text = format!(
            "{}\n[cut here: go on with `lines: [{next}, {last}]`]\n",
            text.trim_end_matches('\n')
        );
    }
    if more {
        text += "[the file is larger than what is looked at for its lines: use commands]\n";
    }
    let mut seen = Observation::new(ObservationKind::Content, text);
    seen.omitted = shown.omitted as u64;
    Ok(seen)
}
