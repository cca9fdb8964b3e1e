//! Control tokens of chat templates in words of others: `<|im_end|>`, `[INST]`, `</s>` and their kin. A service
//! may read them in a text as its own marks, so that words of an agent end a message or begin one in another's
//! name. Which ones a model knows is not told, so everything that has their form is written out. Knows no
//! prompt and no service.

use std::borrow::Cow;
use std::fmt::Write as _;

/// Letters of the longest name that is looked at: tokens have short ones.
const LONGEST: usize = 64;

/// Whether a control token may begin at the beginning of `text`, which follows the character `before`.
pub fn begins(text: &str, before: char) -> bool {
    let mut rest = text.chars();
    match rest.next() {
        Some('<' | '\u{ff1c}' | '\u{fe64}') => {
            rest.as_str().starts_with(['|', '\u{ff5c}']) || is_tag(rest.as_str())
        }
        Some('[') => is_bracketed(rest.as_str()),
        // `]~b]` and `[e~[`.
        Some('~') => before == ']' || rest.as_str().starts_with('['),
        _ => false,
    }
}

/// The same text with the first character of all that may be a control token written out, such as `\u{3c}`.
pub fn written_out(text: &str) -> Cow<'_, str> {
    let mut before = ' ';
    let mut written: Option<String> = None;
    for (at, c) in text.char_indices() {
        let token = begins(&text[at..], before);
        before = c;
        if token {
            let so_far = written.get_or_insert_with(|| text[..at].to_owned());
            // Writing to a string can't fail.
            let _ = write!(so_far, "{}", c.escape_unicode());
        } else if let Some(so_far) = &mut written {
            so_far.push(c);
        }
    }
    written.map_or(Cow::Borrowed(text), Cow::Owned)
}

/// What follows the `<` of `<s>`, `</s>`, `<start_of_turn>`, `<unused7>`: a name and nothing else.
fn is_tag(rest: &str) -> bool {
    let rest = rest.strip_prefix('/').unwrap_or(rest);
    let named = |c: &char| c.is_alphanumeric() || matches!(c, '_' | '-' | '.' | ':' | '\u{2581}');
    let name = rest.chars().take(LONGEST).take_while(named);
    let length: usize = name.map(char::len_utf8).sum();
    length > 0 && rest[length..].starts_with(['>', '\u{ff1e}', '\u{fe65}'])
}

/// What follows the `[` of `[INST]`, `[/INST]`, `[TOOL_CALLS]`, `[gMASK]`: capitals, but for the first letter.
fn is_bracketed(rest: &str) -> bool {
    let rest = rest.strip_prefix('/').unwrap_or(rest);
    let Some(tail) = rest.strip_prefix(|c: char| c.is_ascii_alphabetic()) else {
        return false;
    };
    let capital = |c: &u8| c.is_ascii_uppercase() || c.is_ascii_digit() || *c == b'_';
    let tail = tail.as_bytes();
    let length = tail.iter().take(LONGEST).take_while(|c| capital(c)).count();
    length >= 2 && tail.get(length) == Some(&b']')
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const TOKENS: [&str; 24] = [
        "<|im_start|>",
        "<|im_end|>",
        "<|endoftext|>",
        "<|eot_id|>",
        "<|start_header_id|>",
        "<|channel|>",
        "<|START_OF_TURN_TOKEN|>",
        "<\u{ff5c}end\u{2581}of\u{2581}sentence\u{ff5c}>",
        "\u{ff1c}|im_end|\u{ff1e}",
        "<s>",
        "</s>",
        "<bos>",
        "<start_of_turn>",
        "<end_of_turn>",
        "<<SYS>>",
        "<</SYS>>",
        "<unused7>",
        "<0x0A>",
        "[INST]",
        "[/INST]",
        "[TOOL_CALLS]",
        "[gMASK]",
        "]~b]",
        "[e~[",
    ];

    #[test]
    fn tokens_of_every_family_are_written_out_and_can_still_be_read() {
        for token in TOKENS {
            let text = format!("a {token} b");
            let written = written_out(&text);
            assert!(!written.contains(token), "{written}");
            assert!(written.contains("\\u{"), "{written}");
            assert!(
                written.starts_with("a ") && written.ends_with(" b"),
                "{written}"
            );
        }
        assert_eq!(written_out("<|im_end|>"), r"\u{3c}|im_end|>");
        assert_eq!(written_out("x[/INST]"), r"x\u{5b}/INST]");
    }

    #[test]
    fn what_has_no_such_form_stays_as_it_is() {
        for text in [
            "a < b > c",
            "<a href=\"x\">",
            "list[0] [true] [x] [ok]",
            "~/work ~ x[~] ",
            "",
            "<>",
            "if (a<b || c>d)",
        ] {
            assert_eq!(written_out(text), text);
        }
    }

    proptest! {
        #[test]
        fn no_token_is_left_whatever_stands_around_it(
            before in "\\PC{0,8}", after in "\\PC{0,8}", nth in 0..TOKENS.len(),
        ) {
            let text = format!("{before}{}{after}", TOKENS[nth]);
            let written = written_out(&text);
            prop_assert!(!written.contains(TOKENS[nth]), "{written}");
            let written = written.into_owned();
            prop_assert_eq!(written_out(&written), &*written);
        }
    }
}
