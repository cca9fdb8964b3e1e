//! Scripts that find an element and make it ready for a person's mouse and keys, as WebDriver does.

use serde_json::json;

/// Brings an element into view and returns the place to click, or what is in the way.
const PLACE: &str = r#"
    const one = document.querySelector(SELECTOR);
    if (!one) return "is not there";
    const middle = () => {
        const box = [...one.getClientRects()].find((box) => box.width > 0 && box.height > 0);
        if (!box) return null;
        const [left, right] = [Math.max(0, box.left), Math.min(innerWidth, box.right)];
        const [top, bottom] = [Math.max(0, box.top), Math.min(innerHeight, box.bottom)];
        return [Math.floor((left + right) / 2), Math.floor((top + bottom) / 2)];
    };
    const inside = ([x, y]) => x >= 0 && y >= 0 && x < innerWidth && y < innerHeight;
    // Below others counts: only what is outside of a window or a list is scrolled to.
    const seen = (place) => inside(place) && document.elementsFromPoint(...place).includes(one);
    if (!middle()) return "is hidden";
    if (!seen(middle())) one.scrollIntoView({ behavior: "instant", block: "end", inline: "nearest" });
    const place = middle();
    if (!place || !inside(place)) return "can't be brought into view";
    const found = document.elementFromPoint(...place);
    if (!one.contains(found)) return "is covered by " + (found?.cloneNode(false).outerHTML.slice(0, 200) ?? "nothing");
    return place;
"#;

/// Gives an element the focus, with the cursor behind its text; returns why that can't be.
const FOCUS: &str = r#"
    const one = document.querySelector(SELECTOR);
    if (!one) return "is not there";
    if (!one.checkVisibility({ visibilityProperty: true })) return "is hidden";
    if (one.disabled) return "is disabled";
    const before = document.activeElement;
    one.scrollIntoView({ behavior: "instant", block: "nearest", inline: "nearest" });
    if (before !== one) {
        before?.blur();
        one.focus();
        // Fields for numbers and the like have no cursor.
        try { if (one.value) one.setSelectionRange(one.value.length, one.value.length); } catch { }
    }
    return document.activeElement === one ? null : "takes no focus";
"#;

/// An expression: `[x, y]` where the first element that a selector finds can be clicked, or a text that says why not.
pub(crate) fn place(selector: &str) -> String {
    on(selector, PLACE)
}

/// An expression: nothing once that element has the focus, or a text that says why not.
pub(crate) fn focus(selector: &str) -> String {
    on(selector, FOCUS)
}

fn on(selector: &str, script: &str) -> String {
    format!(
        "(() => {{ const SELECTOR = {}; {script} }})()",
        json!(selector)
    )
}
