//! The page of a run: what it adds up to in cards, caveats and charts, and what every page has.

use std::path::Path;

use agon_report::{RunReport, Summary, count, duration, maybe_percent, percent, plain, range};
use agon_store::RunReader;
use serde_json::json;

use super::run_trials::{disagree, trials};
use super::stand::{Stand, folder, played};

fn summary(run: &Path) -> Summary {
    let reader = RunReader::open(run).unwrap();
    RunReport::new(reader.manifest(), &reader).unwrap().summary
}

#[tokio::test(flavor = "multi_thread")]
async fn cards_and_caveats_say_what_a_report_says() {
    let root = folder();
    let run = played(root.path(), "some", 100, 3);
    let lines = trials(&run);
    disagree(&run, &lines[4]);
    let stand = Stand::open(root).await;
    let summary = summary(&run);
    let overall = &summary.overall;
    stand.go("/runs/some").await;
    let shown = stand
        .until("Object.fromEntries([...document.querySelectorAll('.card')].map((card) => [card.children[0].innerText, [card.children[1].innerText, card.children[2].innerText]]))")
        .await;
    let steps = summary.steps.as_ref().unwrap();
    for (name, value, note) in [
        (
            "Score",
            percent(overall.score_floor),
            format!("coverage {}", percent(overall.coverage)),
        ),
        (
            "Without faults",
            maybe_percent(overall.score),
            range(overall.score_ci),
        ),
        (
            "Weighted",
            percent(summary.weighted.score_floor),
            format!("without faults {}", maybe_percent(summary.weighted.score)),
        ),
        (
            "Steps",
            agon_report::value(steps.median),
            format!("median; most {}", steps.max),
        ),
        (
            "Time",
            duration(summary.seconds.split.total()),
            format!("sum; median {}", duration(summary.seconds.median.unwrap())),
        ),
        ("Reviewed", "1".to_owned(), "1 disagree".to_owned()),
    ] {
        assert_eq!(shown[name], json!([value, note]), "{name}: {shown}");
    }
    let money = summary.usage.money.unwrap().micros() as f64 / 1e6;
    assert_eq!(shown["Cost"][0], format!("${money:.2}"));
    let tokens = summary.usage.input_tokens.unwrap() + summary.usage.output_tokens.unwrap();
    assert_eq!(shown["Cost"][1], format!("{} tokens", count(tokens)));

    let said = stand
        .until("[...document.querySelectorAll('.caveats li')].map((one) => one.innerText)")
        .await;
    let mut said: Vec<String> = serde_json::from_value(said).unwrap();
    let mut caveats: Vec<String> = summary
        .caveats
        .iter()
        .map(|caveat| plain(&caveat.text))
        .collect();
    assert!(!caveats.is_empty());
    said.sort();
    caveats.sort();
    assert_eq!(said, caveats);
    let legend = stand.text(".outcomes .legend").await;
    for (number, word) in [
        (overall.passed, "passed"),
        (overall.failed, "failed"),
        (overall.faulted, "faulted"),
    ] {
        assert!(legend.contains(&format!("{number} {word}")), "{legend}");
    }
    stand.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn charts_have_words_and_keys_and_colours_are_at_hand() {
    let root = folder();
    played(root.path(), "some", 100, 3);
    let stand = Stand::open(root).await;
    stand.go("/runs/some").await;
    stand.browser.click("details.more summary").await.unwrap();
    stand
        .until("document.querySelector('details.more').open")
        .await;
    let titles = stand
        .until("[...document.querySelectorAll('#overview h2')].map((one) => one.innerText)")
        .await;
    for title in [
        "Category by level",
        "Score by level",
        "Results over time",
        "Mean time of a trial",
        "Steps of graded trials",
    ] {
        assert!(
            titles.as_array().unwrap().contains(&json!(title)),
            "{titles}"
        );
    }
    // Each is told in words too, or is made of words.
    let dumb = stand.browser.js("return [...document.querySelectorAll('#overview svg')].filter((one) => !['img', 'group'].includes(one.getAttribute('role')) || (one.getAttribute('aria-label') || '').length < 10).map((one) => one.outerHTML.slice(0, 200))").await.unwrap();
    assert_eq!(dumb, json!([]));

    stand.browser.press('?').await.unwrap();
    let help = stand.text("dialog[open]").await;
    for words in [
        "Next trial",
        "Open the trial",
        "Search",
        "Light or dark",
        "Runs",
    ] {
        assert!(help.contains(words), "{help}");
    }
    stand.browser.press('\u{e00c}').await.unwrap();
    stand.until("!document.querySelector('dialog')").await;

    let background = "return getComputedStyle(document.body).backgroundColor";
    let light = stand.browser.js(background).await.unwrap();
    stand.browser.click("[data-theme-switch]").await.unwrap();
    stand
        .until("document.documentElement.dataset.theme === 'dark'")
        .await;
    let dark = stand.browser.js(background).await.unwrap();
    assert_ne!(light, dark);
    stand.go("/").await;
    assert_eq!(stand.browser.js(background).await.unwrap(), dark);
    stand.browser.press('t').await.unwrap();
    stand
        .until("document.documentElement.dataset.theme === 'light'")
        .await;
    stand.go("/runs/some").await;
    assert_eq!(stand.browser.js(background).await.unwrap(), light);
    // Whether the lower charts are open is remembered as well.
    stand
        .until("document.querySelector('details.more').open")
        .await;
    stand.close().await;
}
