//! The list of runs: what it says of each, how it is searched and walked, and that it follows what goes on.

use std::fs;
use std::path::Path;

use agon_report::{RunReport, Summary, count, duration, maybe_percent, percent, range};
use agon_store::{RunFolder, RunReader};
use serde_json::{Value, json};

use super::stand::{Stand, begun, folder, played};
use super::table::Row;

/// Another day, another model: what a generated run does not differ in.
fn dated(run: &Path, created: &str, suite: &str, model: Option<&str>) {
    let mut manifest = RunReader::open(run).unwrap().manifest().clone();
    manifest.created = created.parse().unwrap();
    manifest.suites[0].name = suite.to_owned();
    if let Some(model) = model {
        let models = json!([
            {"name": model, "provider": "openai", "model": model, "settings": {}},
        ]);
        manifest.models = serde_json::from_value(models).unwrap();
    }
    manifest.plan = manifest.plan_digest();
    RunFolder::at(run).write_manifest(&manifest).unwrap();
}

fn summary(run: &Path) -> Summary {
    let reader = RunReader::open(run).unwrap();
    RunReport::new(reader.manifest(), &reader).unwrap().summary
}

fn ids(rows: &[Row]) -> Vec<&str> {
    let names = rows.iter().map(|row| row.href.as_deref().unwrap());
    names
        .map(|href| href.strip_prefix("/runs/").unwrap())
        .collect()
}

/// As they are listed, by their addresses.
async fn lists(stand: &Stand, ids: &[&str]) {
    let hrefs: Vec<String> = ids.iter().map(|id| format!("/runs/{id}")).collect();
    stand
        .reads(&hrefs, |row| row.href.clone().unwrap_or_default())
        .await;
}

/// Three that were played, on three days.
async fn three() -> Stand {
    let root = folder();
    for (name, luck, created, suite, model) in [
        (
            "middle",
            1,
            "2026-03-02T10:00:00Z",
            "office",
            Some("gpt-4o"),
        ),
        ("oldest", 2, "2026-03-01T10:00:00Z", "games", None),
        ("newest", 3, "2026-03-03T10:00:00Z", "games", Some("claude")),
    ] {
        let run = played(root.path(), name, 40, luck);
        dated(&run, created, suite, model);
    }
    Stand::open(root).await
}

#[tokio::test(flavor = "multi_thread")]
async fn every_run_is_listed_newest_first_with_what_it_came_to() {
    let stand = three().await;
    stand.go("/").await;
    let rows = stand.rows().await;
    assert_eq!(ids(&rows), ["newest", "middle", "oldest"]);
    for row in &rows {
        let id = ids(std::slice::from_ref(row))[0];
        let summary = summary(&stand.folder().join(id));
        let overall = &summary.overall;
        let said = |cell: usize| row.cells[cell].as_str();
        assert_eq!(said(1), "✓ complete");
        let (suite, model) = match id {
            "newest" => ("games", "claude"),
            "middle" => ("office", "gpt-4o"),
            _ => ("games", "no model"),
        };
        assert_eq!(said(2), format!("{suite} {id}"));
        assert_eq!(said(3), format!("{id} {model}"));
        let [floor, coverage] = [overall.score_floor, overall.coverage].map(percent);
        let score = maybe_percent(overall.score);
        let ci = range(overall.score_ci);
        assert_eq!(
            said(4),
            format!("{floor} coverage {coverage} {score} ({ci})")
        );
        assert_eq!(said(5), percent(overall.coverage));
        let faults = match overall.faulted {
            0 => "0".to_owned(),
            some => format!("! {}", count(some)),
        };
        assert_eq!(said(6), faults);
        let dollars = summary.usage.money.unwrap().micros() as f64 / 1e6;
        let spent = duration(summary.seconds.split.total());
        assert_eq!(said(7), format!("${dollars:.2} {spent}"));
        assert!(said(8).starts_with("2026-03-0"), "{}", said(8));
    }
    stand.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn runs_are_searched_and_sorted_and_the_address_says_how() {
    let stand = three().await;
    stand.go("/").await;
    stand.browser.press('/').await.unwrap();
    stand.browser.fill("#search", "GAMES").await.unwrap();
    lists(&stand, &["newest", "oldest"]).await;
    stand
        .until("document.querySelector('#shown').innerText === '2 of 3'")
        .await;
    stand.browser.fill("#search", " claude").await.unwrap();
    lists(&stand, &["newest"]).await;
    let address = stand.address().await;
    assert_eq!(address, "/?q=GAMES+claude");
    // The same link, in another window.
    stand.go("/").await;
    stand.go(&address).await;
    lists(&stand, &["newest"]).await;
    assert_eq!(
        stand
            .browser
            .js("return document.querySelector('#search').value")
            .await
            .unwrap(),
        "GAMES claude"
    );
    stand.browser.fill("#search", " nobody").await.unwrap();
    stand.click_text(".empty button", "Show all runs").await;
    lists(&stand, &["newest", "middle", "oldest"]).await;
    stand.click_text("#heads button", "Agent").await;
    lists(&stand, &["middle", "newest", "oldest"]).await;
    stand.click_text("#heads button", "Agent").await;
    lists(&stand, &["oldest", "newest", "middle"]).await;
    assert_eq!(stand.address().await, "/?sort=agent");
    let sorted = "document.querySelector('#heads [aria-sort=descending]').innerText";
    assert_eq!(stand.until(sorted).await, "Agent");
    stand.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn runs_are_walked_by_keys_and_two_of_them_compared() {
    let stand = three().await;
    stand.go("/").await;
    let current = |id: &str| {
        format!("document.querySelector('#rows .current a')?.getAttribute('href') === '/runs/{id}'")
    };
    for (key, at) in [
        ('j', "newest"),
        ('j', "middle"),
        ('j', "oldest"),
        ('j', "oldest"),
        ('k', "middle"),
    ] {
        stand.browser.press(key).await.unwrap();
        stand.until(&current(at)).await;
    }
    // Enter opens the link that has the focus.
    stand.browser.press('\u{e007}').await.unwrap();
    stand.until("location.pathname === '/runs/middle'").await;
    stand.ready().await;
    stand.browser.press('g').await.unwrap();
    stand.browser.press('r').await.unwrap();
    stand.until("location.pathname === '/'").await;
    stand.ready().await;

    let enabled = "!document.querySelector('#compare').disabled";
    assert_eq!(
        stand
            .browser
            .js(&format!("return {enabled}"))
            .await
            .unwrap(),
        json!(false)
    );
    stand
        .browser
        .click("input[aria-label='Compare newest']")
        .await
        .unwrap();
    assert_eq!(
        stand
            .browser
            .js(&format!("return {enabled}"))
            .await
            .unwrap(),
        json!(false)
    );
    stand
        .browser
        .click("input[aria-label='Compare oldest']")
        .await
        .unwrap();
    stand.until(enabled).await;
    stand.browser.click("#compare").await.unwrap();
    stand.until("location.pathname === '/compare'").await;
    stand.ready().await;
    // The older one is what the other is compared with.
    assert_eq!(stand.address().await, "/compare?run=oldest&run=newest");
    // By keys alone.
    stand.go("/").await;
    for key in ['j', 'x', 'j', 'x', 'c'] {
        stand.browser.press(key).await.unwrap();
    }
    stand.until("location.pathname === '/compare'").await;
    stand.ready().await;
    assert_eq!(stand.address().await, "/compare?run=middle&run=newest");
    stand.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_run_that_goes_on_is_followed_without_a_reload() {
    let root = folder();
    played(root.path(), "other", 5, 1);
    let run = begun(root.path(), "going", 10);
    run.play(0, 1).unwrap();
    run.writer.flush().unwrap();
    let stand = Stand::open(root).await;
    stand.go("/").await;
    stand.mark().await;
    let row = "[...document.querySelectorAll('#rows [role=row]')].find((row) => row.querySelector('a').pathname === '/runs/going')";
    let says = |what: &str| format!("{row}?.innerText.includes('{what}')");
    stand.until(&says("live")).await;
    stand.until(&says("1 of 10")).await;
    // Somebody is about to click in a row of which there is nothing new to tell.
    let other = "document.querySelector(\"#rows a[href='/runs/other']\")";
    stand
        .browser
        .js(&format!("window.held = {other}; window.held.focus()"))
        .await
        .unwrap();
    for n in 1..4 {
        run.play(n, 1).unwrap();
    }
    stand.until(&says("4 of 10")).await;
    let same = format!("return window.held === {other} && document.activeElement === window.held");
    assert_eq!(stand.browser.js(&same).await.unwrap(), json!(true));
    // One that is begun meanwhile.
    let later = begun(stand.folder(), "later", 3);
    stand
        .until(
            "[...document.querySelectorAll('#rows a')].some((a) => a.pathname === '/runs/later')",
        )
        .await;
    for n in 4..10 {
        run.play(n, 1).unwrap();
    }
    drop(run);
    stand.until(&says("complete")).await;
    assert!(stand.is_marked().await);
    drop(later);
    stand.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_run_that_can_t_be_read_is_shown_as_such() {
    let root = folder();
    played(root.path(), "whole", 5, 1);
    let torn = played(root.path(), "torn", 5, 1);
    fs::write(torn.join("run.json"), "{\"format\": 1, \"run\": ").unwrap();
    let newer = played(root.path(), "newer", 5, 1);
    let file = newer.join("run.json");
    let mut manifest: Value = serde_json::from_slice(&fs::read(&file).unwrap()).unwrap();
    manifest["format"] = json!(99);
    fs::write(&file, manifest.to_string()).unwrap();

    let stand = Stand::open(root).await;
    stand.go("/").await;
    let rows = stand.rows().await;
    assert_eq!(rows.len(), 3);
    // What a newer version wrote is shown as far as it is known, and it is said.
    for (id, state, chosen) in [("torn", "! broken", false), ("newer", "✓ complete", true)] {
        let href = format!("/runs/{id}");
        let row = rows
            .iter()
            .find(|row| row.href.as_ref() == Some(&href))
            .unwrap();
        assert_eq!(row.cells[1], state);
        assert!(row.cells[2].contains("! "), "{row:?}");
        let can = format!(
            "return !document.querySelector(\"input[aria-label='Compare {id}']\").disabled"
        );
        assert_eq!(stand.browser.js(&can).await.unwrap(), json!(chosen));
    }
    stand
        .click_on(
            "[...document.querySelectorAll('#rows a')].find((a) => a.pathname === '/runs/newer')",
        )
        .await;
    stand.until("location.pathname === '/runs/newer'").await;
    let said = stand.text(".caveats").await;
    assert!(said.contains("format 99"), "{said}");
    // There is nothing to work with on its page: no script that could say so.
    let torn = format!("{}/runs/torn", stand.url);
    stand.browser.open(&torn).await.unwrap();
    let said = stand.text(".caveats").await;
    assert!(said.contains("run.json can't be read"), "{said}");
    stand.go("/runs/whole").await;
    stand.close().await;
}
