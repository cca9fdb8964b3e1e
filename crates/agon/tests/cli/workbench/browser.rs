//! The browser in a real sandbox: a real Chromium with pages of our own.

use std::time::Duration;

use agon::core::observation::ObservationKind;
use agon::core::{Action, Observation};

use super::ground::Ground;

const SHOP: &str = r#"<!doctype html><title>Shop</title><h1>Our <b>shop</b></h1>
<p>Look at the <a href="other.html">other page</a>.</p>
<form onsubmit="out.textContent = 'sent ' + [user.value, colour.value, ok.checked]; return false">
<label>User <input id=user></label> <select id=colour><option>red</option><option value=g>green</option></select>
<label><input type=checkbox id=ok> Agreed</label> <button>Send</button></form><div id=out></div>
<button onclick="out.textContent = confirm('Sure?')">Ask</button>
<button onclick="window.open('other.html')">Open</button>
<button disabled>Never</button>
<input type=file aria-label=Upload onchange="out.textContent = this.files[0].name">
<div draggable=true ondragstart="event.dataTransfer.setData('text', 'x')">Parcel</div>
<div tabindex=0 ondragover="event.preventDefault()" ondrop="event.preventDefault(); out.textContent = 'dropped'"
 onmouseover="this.textContent = 'Warm shelf'" ondblclick="out.textContent = 'twice'">Shelf</div>
<iframe srcdoc="<button onclick='parent.out.textContent = 7'>Inner</button>"></iframe>
<p style="display:none">secret</p><div style="height: 3000px"></div><button>Bottom</button>"#;

const OTHER: &str =
    "<title>Other</title><p>You came.</p><button onclick='while (true) {}'>Hang</button>";

impl Ground {
    async fn browse(&mut self, code: &str) -> Observation {
        let code = code.to_owned();
        let within = Duration::from_secs(60);
        self.perform(&Action::Browse { code }, within).await
    }

    /// The text of the page after calls that must all be carried out.
    async fn page(&mut self, code: &str) -> String {
        let seen = self.browse(code).await;
        assert_eq!(seen.kind, ObservationKind::Content, "{code}: {}", seen.text);
        assert!(!seen.text.contains("\nerror: "), "{code}: {}", seen.text);
        seen.text
    }

    async fn mistake(&mut self, code: &str) -> String {
        let seen = self.browse(code).await;
        let error = seen
            .text
            .lines()
            .find_map(|line| line.strip_prefix("error: "));
        error
            .unwrap_or_else(|| panic!("{code}: {}", seen.text))
            .to_owned()
    }
}

/// The number of an element.
fn number(page: &str, element: &str) -> u32 {
    let found = page.lines().find_map(|line| {
        let (number, rest) = line.strip_prefix('[')?.split_once("] ")?;
        rest.starts_with(element).then(|| number.parse().unwrap())
    });
    found.unwrap_or_else(|| panic!("no {element}: {page}"))
}

#[tokio::test]
async fn heavy_every_action_of_the_browser_works() {
    let mut ground = Ground::local().await;
    ground.write("shop.html", SHOP).await;
    ground.write("other.html", OTHER).await;
    let seen = ground.browse("goto('file:///work/shop.html')").await;
    let page = seen.text;
    assert!(
        page.starts_with("url: file:///work/shop.html\ntitle: Shop\n"),
        "{page}"
    );
    assert!(page.contains("\nheading \"Our shop\"\n"), "{page}");
    assert!(!page.contains("secret"), "{page}");
    let [picture] = seen.pictures.as_slice() else {
        panic!("{page}")
    };
    let decoder = png::Decoder::new(std::io::Cursor::new(picture.data().unwrap()));
    let reader = decoder.read_info().unwrap();
    assert_eq!((reader.info().width, reader.info().height), (1280, 720));

    let [user, colour, ok, send] = [
        "textbox \"User\"",
        "combobox",
        "checkbox \"Agreed\"",
        "button \"Send\"",
    ]
    .map(|element| number(&page, element));
    let sent = ground
        .page(&format!(
            "fill('{user}', 'bob')\nselect_option('{colour}', 'green')\nclick('{ok}')\nclick({send})"
        ))
        .await;
    assert!(sent.contains("\"sent bob,g,true\""), "{sent}");
    assert_eq!(
        number(&sent, "textbox \"User\" (value \"bob\""),
        user,
        "numbers stay"
    );
    let typed = ground
        .page(&format!(
            "press({user}, 'Control+a')\npress({user}, 'x')\npress({user}, 'Enter')"
        ))
        .await;
    assert!(typed.contains("\"sent x,g,true\""), "{typed}");
    let cleared = ground.page(&format!("clear({user})\nfocus({user})")).await;
    assert!(
        cleared.contains("textbox \"User\" (value \"\", focused)"),
        "{cleared}"
    );

    let asked = ground
        .page(&format!("click({})", number(&page, "button \"Ask\"")))
        .await;
    assert!(
        asked.contains("note: confirm 'Sure?' was accepted"),
        "{asked}"
    );
    assert!(asked.contains("\n\"true\"\n"), "{asked}");
    let shelf = number(&page, "clickable \"Shelf\"");
    let warm = ground.page(&format!("hover({shelf})")).await;
    assert_eq!(number(&warm, "clickable \"Warm shelf\""), shelf);
    let twice = ground.page(&format!("dblclick({shelf})")).await;
    assert!(twice.contains("\"twice\""), "{twice}");
    let parcel = number(&page, "draggable \"Parcel\"");
    let dropped = ground
        .page(&format!("drag_and_drop({parcel}, {shelf})"))
        .await;
    assert!(dropped.contains("\"dropped\""), "{dropped}");
    let upload = number(&page, "file \"Upload\"");
    let uploaded = ground
        .page(&format!("upload_file({upload}, 'other.html')"))
        .await;
    assert!(uploaded.contains("\"other.html\""), "{uploaded}");
    let inner = ground
        .page(&format!("click({})", number(&page, "button \"Inner\"")))
        .await;
    assert!(inner.contains("\n\"7\"\n"), "{inner}");
    let scrolled = ground.page("scroll(0, 300)\nnoop(50)").await;
    assert!(scrolled.contains("\nscrolled: 300 of "), "{scrolled}");

    // Pages: along a link, back and forward, into a new window.
    let link = number(&page, "link \"other page\"");
    assert!(
        ground
            .page(&format!("click({link})"))
            .await
            .contains("You came.")
    );
    let back = ground.page("go_back()").await;
    assert!(back.contains("title: Shop"), "{back}");
    assert_ne!(
        number(&back, "button \"Send\""),
        send,
        "no number is given twice"
    );
    assert!(ground.page("go_forward()").await.contains("title: Other"));
    let open = number(&ground.page("go_back()").await, "button \"Open\"");
    assert!(
        ground
            .page(&format!("click({open})"))
            .await
            .contains("title: Other")
    );
}

#[tokio::test]
async fn heavy_mistakes_and_hanging_pages_are_told() {
    let mut ground = Ground::local().await;
    ground.write("shop.html", SHOP).await;
    ground.write("other.html", OTHER).await;
    let page = ground.page("goto('file:///work/shop.html')").await;
    let never = number(&page, "button \"Never\"");
    let colour = number(&page, "combobox");
    for (wrong, told) in [
        ("import os".to_owned(), "only calls are understood"),
        (
            "__import__('os')".to_owned(),
            "there are only these calls: goto,",
        ),
        (
            "goto(open('/etc/passwd').read())".to_owned(),
            "goto: malformed",
        ),
        ("click(".to_owned(), "not understood"),
        (
            "click()".to_owned(),
            "click: missing a required argument: 'bid'",
        ),
        (
            "click('9999')".to_owned(),
            "click: there is no element 9999",
        ),
        (format!("click({never})"), "is disabled"),
        (
            format!("select_option({colour}, 'blue')"),
            "it has [\"red\",\"green\"]",
        ),
        (format!("fill({never}, 'x')"), "is disabled"),
        (
            format!("press({colour}, 'Hyper+x')"),
            "there is no modifier 'Hyper'",
        ),
        (
            "upload_file(1, 'nothing')".to_owned(),
            "there is no file /work/nothing",
        ),
        ("goto('http://localhost:9/')".to_owned(), "net::ERR_"),
        ("noop(1)\n".repeat(21), "1 to 20 calls"),
    ] {
        let error = ground.mistake(&wrong).await;
        assert!(error.contains(told), "{wrong}: {error}");
    }
    // What came before a mistake has happened.
    let half = ground
        .browse("goto('file:///work/other.html')\nclick(9999)")
        .await;
    assert!(half.text.contains("title: Other"), "{}", half.text);

    let hang = number(&half.text, "button \"Hang\"");
    let code = format!("click({hang})");
    let hung = ground
        .perform(&Action::Browse { code }, Duration::from_secs(2))
        .await;
    assert_eq!(hung.kind, ObservationKind::Error);
    assert!(hung.text.contains("starts it anew"), "{}", hung.text);
    assert!(
        ground
            .page("noop(1)")
            .await
            .starts_with("url: about:blank\n")
    );
}

#[tokio::test]
async fn container_without_a_browser_says_so() {
    let mut ground = Ground::container().await;
    let seen = ground.browse("noop()").await;
    assert_eq!(seen.kind, ObservationKind::Error);
    assert!(
        seen.text.contains("needs chromium and python3"),
        "{}",
        seen.text
    );
}
