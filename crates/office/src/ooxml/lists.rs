//! Lists of texts: by number and depth, whether they have bullets or numbers.

use std::collections::HashMap;

use crate::document::ListKind;
use crate::xml::Element;

/// Most levels of all lists; a list has nine.
const LEVELS: usize = 100_000;

/// A list and how deep in it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct Level {
    pub(super) list: u32,
    pub(super) depth: u32,
}

#[derive(Debug, Default)]
pub(super) struct Lists {
    kinds: HashMap<Level, ListKind>,
}

impl Lists {
    pub(super) fn read(part: Option<&Element>) -> Self {
        let mut lists = Self::default();
        let Some(part) = part else {
            return lists;
        };
        let abstracts: HashMap<_, _> = part
            .all("w:abstractNum")
            .filter_map(|list| Some((list.attribute("w:abstractNumId")?, list)))
            .collect();
        let mut looked_at = 0;
        for list in part.all("w:num") {
            let number =
                |of: &Element, key| of.attribute(key).and_then(|number| number.parse().ok());
            let Some(id) = number(list, "w:numId") else {
                continue;
            };
            let of = list
                .child("w:abstractNumId")
                .and_then(|of| of.attribute("w:val"));
            let own = list
                .all("w:lvlOverride")
                .filter_map(|own| own.child("w:lvl"));
            let levels = of.and_then(|of| abstracts.get(of));
            for level in levels.into_iter().flat_map(|of| of.all("w:lvl")).chain(own) {
                let format = level
                    .child("w:numFmt")
                    .and_then(|format| format.attribute("w:val"));
                let kind = match format {
                    Some("bullet") => ListKind::Bullet,
                    Some("none") => ListKind::None,
                    _ => ListKind::Number,
                };
                let at = Level {
                    list: id,
                    depth: number(level, "w:ilvl").unwrap_or(0),
                };
                lists.kinds.insert(at, kind);
                // Lists share levels: a small file may ask for many.
                looked_at += 1;
                if looked_at > LEVELS {
                    return lists;
                }
            }
        }
        lists
    }

    pub(super) fn kind(&self, at: Level) -> ListKind {
        self.kinds.get(&at).copied().unwrap_or(ListKind::None)
    }
}
