//! From a text to the words of its paragraphs.

pub fn split(text: &str) -> Vec<Vec<&str>> {
    let mut paragraphs = Vec::new();
    let mut words: Vec<&str> = Vec::new();
    for line in text.lines() {
        if line.trim().is_empty() {
            if !words.is_empty() {
                paragraphs.push(std::mem::take(&mut words));
            }
        } else {
            words.extend(line.split_whitespace());
        }
    }
    if !words.is_empty() {
        paragraphs.push(words);
    }
    paragraphs
}
