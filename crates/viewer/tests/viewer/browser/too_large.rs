//! A picture that is too large to be shown: told as what it is, and offered as a file.

use agon_core::verdict::CheckResult;
use agon_core::{Action, Picture, PictureFormat};
use agon_viewer::{Library, export};
use serde_json::json;

use super::stand::{Stand, begun, folder};
use super::told::{Told, address};

/// More than a page shows.
const BYTES: usize = (64 << 20) + 1;

#[tokio::test(flavor = "multi_thread")]
async fn a_picture_that_is_too_large_is_a_download() {
    let root = folder();
    let run = begun(root.path(), "run", 1);
    let mut content = b"\x89PNG\r\n\x1a\n".to_vec();
    content.resize(BYTES, 7);
    let picture = Picture::new(PictureFormat::Png, content);
    let blob = picture.blob.to_string();
    let mut told = Told::begin(&run, 0);
    let screen = told.screen(picture, (640, 400), (10, 10));
    told.act_on_screen(Action::run("ls"), screen);
    told.end(vec![CheckResult::plain("file a", true, "as expected")]);
    let page = address(&run, 0);
    drop(run);
    let cache = root.path().join(".cache");
    let library = Library::new(vec![root.path().to_owned()], cache.clone()).unwrap();
    let site = root.path().join(".site");
    export(&library.runs().unwrap(), &cache, &site, |_| {}).unwrap();
    let copy = site.join(format!("runs/run/blobs/{blob}.img"));
    assert_eq!(std::fs::metadata(copy).unwrap().len(), BYTES as u64);

    let stand = Stand::open(root).await;
    stand.go(&format!("{page}?step=2")).await;
    let said = "document.querySelector('.screen-nothing:not([hidden])')?.innerText";
    stand
        .until(&format!("({said} || '').includes('too large to be shown')"))
        .await;
    let link = "document.querySelector('.screen-nothing a').getAttribute('href')";
    assert_eq!(
        stand.until(link).await,
        json!(format!("/runs/run/blobs/{blob}"))
    );
    let sent = "const done = arguments[0]; \
        fetch(document.querySelector('.screen-nothing a').href).then(async (answer) => \
            done([answer.headers.get('content-disposition'), (await answer.arrayBuffer()).byteLength]));";
    let sent = stand.browser.js_async(sent).await.unwrap();
    assert_eq!(sent, json!(["attachment", BYTES]));
    // There is no small one of what only looks like a picture.
    let complaints = stand.browser.complaints().await.unwrap();
    assert!(
        complaints.iter().all(|one| one.contains("/thumbs/")),
        "{complaints:#?}"
    );
    stand.close().await;
}
