//! What people say about trials: by keys and by buttons, alone and beside each other.

use std::path::Path;

use agon_core::TaskId;
use agon_store::{Review, ReviewVerdict, Reviews, RunFolder};
use agon_testkit::Browser;
use serde_json::Value;

use super::stand::{Stand, folder, played};

const ESCAPE: char = '\u{e00c}';
const STATE: &str = "document.querySelector('.review-state').textContent";

/// Keys of trials in the order of the list, as the API tells them.
async fn listed(stand: &Stand, query: &str) -> Vec<Value> {
    let page = stand
        .browser
        .js_async(&format!(
            "fetch('/api/runs/reviewed/trials{query}').then(answer => answer.json()).then(arguments[0]);"
        ))
        .await
        .unwrap();
    page["rows"].as_array().unwrap().clone()
}

fn path(row: &Value) -> String {
    format!(
        "/runs/reviewed/trial/{}/{}/{}",
        row["task"].as_str().unwrap(),
        row["epoch"],
        row["attempt"]
    )
}

fn said(root: &Path) -> Vec<Review> {
    let folder = RunFolder::at(root.join("reviewed"));
    let text = std::fs::read_to_string(folder.reviews_file()).unwrap();
    text.lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

/// A viewer on a run of this many trials, with the first page open.
async fn stand(trials: u64) -> Stand {
    let folder = folder();
    played(folder.path(), "reviewed", trials, 1);
    let stand = Stand::open(folder).await;
    stand.go("/runs/reviewed").await;
    // Somebody who was asked, and gave no name.
    let asked = "localStorage.setItem('agon-reviewer', '')";
    stand.browser.js(asked).await.unwrap();
    stand
}

#[tokio::test]
async fn a_trial_is_reviewed_by_keys_and_by_buttons() {
    let stand = stand(4).await;
    let row = listed(&stand, "?outcome=passed").await.remove(0);
    stand.go(&path(&row)).await;
    let browser = &stand.browser;
    browser.click("#tab-Review").await.unwrap();
    stand
        .until(&format!("{STATE}.includes('Nobody has')"))
        .await;
    // Nothing to take back.
    stand
        .until("document.querySelector('.review-clear').disabled")
        .await;
    browser.click("#review-name").await.unwrap();
    browser.fill("#review-name", "Ada").await.unwrap();
    browser.press(ESCAPE).await.unwrap();
    browser.press('m').await.unwrap();
    stand
        .until("document.activeElement.id === 'review-comment'")
        .await;
    // Keys that mean something elsewhere are letters here.
    browser
        .fill("#review-comment", "pfcn <b>no</b>")
        .await
        .unwrap();
    browser.press(ESCAPE).await.unwrap();
    browser.press('f').await.unwrap();
    stand
        .until(&format!("{STATE} === '✕Reviewed: failby Ada'"))
        .await;
    stand
        .until("document.querySelector('#state').textContent.includes('failed')")
        .await;
    stand
        .until("document.querySelector('#marks').textContent.includes('checks say passed')")
        .await;
    stand
        .until("document.querySelector('#marks').textContent.includes('disagreed')")
        .await;
    stand
        .until("document.querySelector('.review').textContent.includes('not what the checks say (passed)')")
        .await;
    // A person's score is that of the trial; what the checks gave it stays told as theirs.
    stand
        .until("/score\\s*0\\.0 %/.test(document.querySelector('#facts').textContent)")
        .await;
    browser.click("#tab-Checks").await.unwrap();
    stand
        .until("(told => told.includes('The checks say passed') && /score\\s*100\\.0 %/.test(told))(document.querySelector('.checks .verdict')?.textContent || '')")
        .await;
    browser.click("#tab-Review").await.unwrap();
    // What was said is kept, and the field is free for the next words.
    let entry = stand
        .until("document.querySelector('.review-entry').textContent")
        .await;
    assert!(
        entry.as_str().unwrap().contains("pfcn <b>no</b>"),
        "{entry}"
    );
    stand
        .until("document.querySelector('#review-comment').value === ''")
        .await;

    browser.press('c').await.unwrap();
    stand
        .until(&format!("{STATE}.includes('Nobody has')"))
        .await;
    stand
        .until("document.querySelector('#state').textContent.includes('passed')")
        .await;
    stand
        .until("!document.querySelector('#marks').textContent.includes('disagreed')")
        .await;
    browser.click(".review-pass").await.unwrap();
    stand
        .until(&format!("{STATE} === '✓Reviewed: passby Ada'"))
        .await;
    stand
        .until("document.querySelector('.review-pass').getAttribute('aria-pressed') === 'true'")
        .await;
    // A key right after a button.
    browser.press('f').await.unwrap();
    stand
        .until(&format!("{STATE} === '✕Reviewed: failby Ada'"))
        .await;
    browser.click(".review-clear").await.unwrap();
    stand
        .until(&format!("{STATE}.includes('Nobody has')"))
        .await;
    stand
        .until("document.querySelectorAll('.review-entry').length === 5")
        .await;

    // Another page of another trial knows who is there.
    let other = listed(&stand, "").await.remove(1);
    stand.go(&path(&other)).await;
    stand
        .until("document.querySelector('#review-name').value === 'Ada'")
        .await;

    let said = said(stand.folder());
    let verdicts: Vec<ReviewVerdict> = said.iter().map(|review| review.verdict).collect();
    assert_eq!(
        verdicts,
        [
            ReviewVerdict::Fail,
            ReviewVerdict::Clear,
            ReviewVerdict::Pass,
            ReviewVerdict::Fail,
            ReviewVerdict::Clear
        ]
    );
    assert_eq!(said[0].comment, "pfcn <b>no</b>");
    assert!(said[1..].iter().all(|review| review.comment.is_empty()));
    assert!(said.iter().all(|review| review.reviewer == "Ada"
        && review.task.to_string() == row["task"]
        && review.attempt == 1));
    stand.close().await;
}

#[tokio::test]
async fn the_next_unreviewed_trial_is_one_key_away_and_lists_show_disagreement() {
    let stand = stand(9).await;
    let failed = listed(&stand, "?outcome=failed").await;
    assert!(failed.len() > 1, "{failed:?}");
    let browser = &stand.browser;
    // Who passes over one comes to the next.
    stand
        .go(&format!("{}?outcome=failed", path(&failed[0])))
        .await;
    browser.press('n').await.unwrap();
    stand
        .until(&format!("location.pathname === '{}'", path(&failed[1])))
        .await;
    // From the list to the first of it, and on within the same filter.
    stand.go("/runs/reviewed?outcome=failed").await;
    browser.press('n').await.unwrap();
    for (at, row) in failed.iter().enumerate() {
        stand
            .until(&format!(
                "location.pathname === '{}' && location.search.includes('outcome=failed')",
                path(row)
            ))
            .await;
        stand.ready().await;
        browser
            .press(if at == 0 { 'p' } else { 'f' })
            .await
            .unwrap();
        stand
            .until("document.querySelector('.review-state') && document.querySelector('.review-state').textContent.includes('Reviewed')")
            .await;
        browser.press('n').await.unwrap();
    }
    // All are reviewed: back to the list. The one of which a person says that it passed is no longer in it.
    stand
        .until(
            "location.pathname === '/runs/reviewed' && location.search.includes('outcome=failed')",
        )
        .await;
    stand.ready().await;
    stand
        .until(&format!(
            "document.querySelectorAll('.row .why').length === {}",
            failed.len() - 1
        ))
        .await;
    stand.go("/runs/reviewed?flag=disagreed").await;
    let row = stand
        .until("document.querySelectorAll('.row .why').length === 1 && document.querySelector('.row .why').closest('.row').textContent")
        .await;
    let row = row.as_str().unwrap();
    assert!(
        row.contains(failed[0]["task"].as_str().unwrap())
            && row.contains("disagreed")
            && row.contains("checks say failed")
            && row.contains("passed"),
        "{row}"
    );
    let said = said(stand.folder());
    assert_eq!(said.len(), failed.len());
    stand.close().await;
}

#[tokio::test]
async fn two_who_review_at_once_lose_nothing_and_see_each_other() {
    let stand = stand(6).await;
    let rows = listed(&stand, "").await;
    let address = path(&rows[0]);
    stand.go(&address).await;
    let other = Browser::start(1440, 900).await.unwrap();
    other.open(&stand.login).await.unwrap();
    other
        .open(&format!("{}{address}", stand.url))
        .await
        .unwrap();
    other
        .until("performance.getEntriesByName('agon-ready').length > 0")
        .await
        .unwrap();
    for (browser, name) in [(&stand.browser, "Ada"), (&other, "Bob")] {
        browser.click("#tab-Review").await.unwrap();
        browser.click("#review-name").await.unwrap();
        browser.fill("#review-name", name).await.unwrap();
        browser.press(ESCAPE).await.unwrap();
    }
    // One speaks, and the other, who is just writing, sees it without losing a letter.
    other.press('m').await.unwrap();
    other.fill("#review-comment", "half a sen").await.unwrap();
    stand.browser.press('p').await.unwrap();
    other
        .until(&format!("{STATE}.includes('by Ada')"))
        .await
        .unwrap();
    other
        .until("document.activeElement.id === 'review-comment' && document.activeElement.value === 'half a sen'")
        .await
        .unwrap();
    other.fill("#review-comment", "tence").await.unwrap();
    other.press(ESCAPE).await.unwrap();
    other.press('f').await.unwrap();
    stand.until(&format!("{STATE}.includes('by Bob')")).await;
    stand
        .until("document.querySelector('.review-entry').textContent.includes('half a sentence')")
        .await;
    stand
        .until("document.querySelectorAll('.review-entry').length === 2")
        .await;

    // Both at the same moment, again and again: on other trials too.
    let mut expected = 2;
    for row in &rows[1..4] {
        let open = format!("{}{}", stand.url, path(row));
        let (a, b) = tokio::join!(stand.browser.open(&open), other.open(&open));
        a.unwrap();
        b.unwrap();
        let ready = "performance.getEntriesByName('agon-ready').length > 0";
        let (a, b) = tokio::join!(stand.browser.until(ready), other.until(ready));
        a.unwrap();
        b.unwrap();
        let (a, b) = tokio::join!(stand.browser.press('p'), other.press('f'));
        a.unwrap();
        b.unwrap();
        expected += 2;
        for browser in [&stand.browser, &other] {
            browser
                .until("document.querySelectorAll('.review-entry').length === 2")
                .await
                .unwrap();
        }
        let state = format!("[{STATE}, document.querySelector('#state').textContent]");
        let (a, b) = (stand.browser.until(&state).await, other.until(&state).await);
        assert_eq!(a.unwrap(), b.unwrap());
    }
    // Somebody else, with another program.
    let root = RunFolder::at(stand.folder().join("reviewed"));
    let task = rows[3]["task"].as_str().unwrap();
    Review {
        at: "2026-11-16T12:00:00Z".parse().unwrap(),
        task: TaskId::parse(task).unwrap(),
        epoch: 1,
        attempt: rows[3]["attempt"].as_u64().unwrap() as u32,
        verdict: ReviewVerdict::Pass,
        comment: "from afar".to_owned(),
        reviewer: "Eve".to_owned(),
    }
    .append(&root)
    .unwrap();
    expected += 1;
    for browser in [&stand.browser, &other] {
        browser
            .until(&format!("{STATE}.includes('by Eve')"))
            .await
            .unwrap();
    }
    let all = said(stand.folder());
    assert_eq!(all.len(), expected);
    for name in ["Ada", "Bob"] {
        let own = all.iter().filter(|review| review.reviewer == name);
        assert_eq!(own.count(), 4, "{name}");
    }
    assert_eq!(Reviews::read(&root).unwrap().unread(), 0);
    let complaints = other.complaints().await.unwrap();
    assert!(complaints.is_empty(), "{complaints:#?}");
    other.close().await.unwrap();
    stand.close().await;
}

#[tokio::test]
async fn what_does_not_count_or_can_t_be_written_is_told() {
    let stand = stand(200).await;
    // An attempt that was tried again.
    let rows = listed(&stand, "?flag=retried&attempts=true").await;
    let retried = rows.iter().find(|row| row["attempt"] == 2).unwrap();
    let first = path(retried).trim_end_matches('2').to_owned() + "1";
    stand.go(&first).await;
    stand.browser.click("#tab-Review").await.unwrap();
    stand
        .until(
            "document.querySelector('.review').textContent.includes('Only an attempt that counts')",
        )
        .await;
    stand.browser.press('p').await.unwrap();
    // The other attempt is one link away.
    stand.browser.click("#tab-Task").await.unwrap();
    stand
        .until("document.querySelector('#panel-body').textContent.includes('Attempt 1: faulted')")
        .await;
    stand
        .until("document.querySelector('#panel-body a[href*=\"/1/2\"]')")
        .await;
    // Also from the head of the page.
    stand.browser.click("#facts a[href*='/1/2']").await.unwrap();
    stand
        .until(&format!("location.pathname === '{}'", path(retried)))
        .await;
    stand.ready().await;
    stand.browser.click("#tab-Review").await.unwrap();
    stand
        .until(&format!("{STATE}.includes('Nobody has')"))
        .await;
    // A file that can't be written: nothing is lost silently, and the words stay in the field.
    let folder = RunFolder::at(stand.folder().join("reviewed"));
    std::fs::create_dir(folder.reviews_file()).unwrap();
    stand.browser.press('m').await.unwrap();
    stand
        .browser
        .fill("#review-comment", "keep me")
        .await
        .unwrap();
    stand.browser.press(ESCAPE).await.unwrap();
    stand.browser.press('p').await.unwrap();
    stand
        .until("(told => told && !told.hidden && told.textContent.includes('It was not recorded'))(document.querySelector('.review > .problem[role=alert]'))")
        .await;
    stand
        .until("document.querySelector('#review-comment').value === 'keep me'")
        .await;
    // The browser tells of the answer, too.
    stand.browser.complaints().await.unwrap();
    std::fs::remove_dir(folder.reviews_file()).unwrap();
    stand.browser.press('p').await.unwrap();
    stand
        .until("document.querySelector('.review-state').textContent.includes('Reviewed: pass')")
        .await;
    stand
        .until("document.querySelector('.review > .problem[role=alert]').hidden")
        .await;
    assert_eq!(said(stand.folder())[0].comment, "keep me");
    stand.close().await;
}
