//! Takes the pictures of the viewer that the documents show: `picture_viewer URL PAGE FILE.png [dark] [SCRIPT]`.
//! The page can be worked with when the picture is taken; SCRIPT is run in it before.

use std::error::Error;
use std::path::Path;

use agon_testkit::Browser;

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let [url, page, file, rest @ ..] = words.as_slice() else {
        return Err("name the viewer's address, a page and a file".into());
    };
    let dark = rest.iter().any(|word| word == "dark");
    let browser = Browser::start(1440, 900).await?;
    browser.open(&format!("{url}{page}")).await?;
    if dark {
        browser
            .js("localStorage.setItem('agon-theme', 'dark');")
            .await?;
        browser.open(&format!("{url}{page}")).await?;
    }
    let ready = "performance.getEntriesByName('agon-ready').length > 0";
    browser.until(ready).await?;
    for script in rest.iter().filter(|word| *word != "dark") {
        browser.js(script).await?;
    }
    // Pictures of lists come later than the page itself.
    browser
        .until("[...document.images].every(image => image.complete)")
        .await?;
    browser
        .js_async("requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(arguments[0], 800)));")
        .await?;
    browser.screenshot(Path::new(file)).await?;
    browser.close().await?;
    Ok(())
}
