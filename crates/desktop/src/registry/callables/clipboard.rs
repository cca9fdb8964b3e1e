//! The clipboard.

use super::bind::callable;
use crate::registry::callable::Callable;
use crate::registry::shelf::Registry;

pub(super) fn put(registry: &Registry<Callable>) {
    callable!(
        registry,
        "desktop/clipboard.get",
        "The text that was copied last.",
        (),
        |context| context.desktop()?.clipboard().get()
    );
    callable!(
        registry, "desktop/clipboard.set",
        "Offer a text to whoever pastes, as long as the desktop's user lives.", (text: String),
        |context| context.desktop()?.clipboard().set(&text)
    );
}
