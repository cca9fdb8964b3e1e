//! A run in which every text that comes from others tries to break out: names, titles, thoughts, commands,
//! outputs, answers, checks, judges, models, faults, reviews. All of it must stay text, on every page and in
//! every tab, from the viewer and from an export.

use std::path::Path;
use std::time::Duration;

use agon_core::verdict::{Outcome, TurnEnd, Verdict};
use agon_core::{Event, Fault, FaultClass, Source};
use agon_store::{Review, ReviewVerdict, TrialLine};
use agon_testkit::{GeneratedRun, painted};
use agon_viewer::{Library, export};
use serde_json::{Value, json};

use super::stand::{Stand, folder};

const PAYLOADS: [&str; 18] = [
    "<script>window.pwned=1</script>",
    "</script><script>window.pwned=2</script>",
    "<img src=x onerror=window.pwned=3>",
    "\"><svg onload=window.pwned=4>",
    "' onmouseover='window.pwned=5' autofocus onfocus='window.pwned=5",
    "<a href=\"javascript:window.pwned=6\">javascript:window.pwned=6</a>",
    "<iframe srcdoc='<script>parent.pwned=7</script>'></iframe>",
    "{{constructor.constructor('window.pwned=8')()}} ${window.pwned=8} {% raw %}",
    "<style>*{background:url(https://evil.invalid/css)}</style>",
    "</textarea></title></style></template></noscript><script>window.pwned=9</script>",
    "<link rel=stylesheet href=https://evil.invalid/x.css><base href=https://evil.invalid/>",
    "<form action=https://evil.invalid/><input name=a autofocus onfocus=window.pwned=10>",
    "<!-- --!><script>window.pwned=11</script> ]]> &lt;b&gt; &#60;",
    "\u{202e}dlrow\u{2066}\u{200b}\u{061c} \u{1b}[31m\u{1b}]0;t\u{7} \u{0}\u{8} \u{2028}\u{2029}\u{feff}",
    "<meta http-equiv=refresh content=0;url=https://evil.invalid/>",
    "__proto__ constructor toString \\u003cscript\\u003e \\\"};window.pwned=12;//",
    "<math><mtext><table><mglyph><style><img src=x onerror=window.pwned=13>",
    "https://evil.invalid/ [a](javascript:window.pwned=14) `window.pwned=14`",
];

fn all() -> String {
    PAYLOADS.join("\n")
}

/// One of them on its own, for places with little room.
fn one(n: usize) -> String {
    PAYLOADS[n % PAYLOADS.len()].to_owned()
}

/// An event as it stands in a record.
fn event(kind: &str, content: Value) -> agon_core::EventBody {
    let line = json!({"seq": 0, "t": 0.0, "at": "2026-01-02T03:04:05Z", "source": "agent",
        "kind": kind, kind: content});
    serde_json::from_value::<Event>(line).unwrap().body
}

fn events(run: &GeneratedRun) -> Vec<(Source, &'static str, Value)> {
    use Source::{Agent, Environment, Grader, Harness, User};
    let p = all();
    let picture = painted(1, 640, 400);
    run.writer.keep_picture(&picture).unwrap();
    let picture = serde_json::to_value(&picture).unwrap();
    let window = |n| json!({"title": one(n), "class": one(n + 1), "x": 0, "y": 0, "width": 10, "height": 10});
    let screen = |n| {
        json!({"width": 640, "height": 400, "cursor": {"x": 5, "y": 5}, "window": window(n),
            "picture": picture})
    };
    let long = format!("{} {}", p, "x<y>&".repeat(210_000));
    let usage = json!({"input_tokens": 5, "output_tokens": 6, "calls": 1});
    let mut list = vec![
        (Harness, "phase", json!("setup")),
        (Harness, "phase", json!("running")),
        (User, "instruction", json!(p)),
        (Harness, "note", json!(p)),
        (
            Environment,
            "observation",
            json!({"kind": "ready", "text": p, "screen": screen(0)}),
        ),
        (
            Agent,
            "model",
            json!({"model": p, "purpose": "agent", "seconds": 1.0, "tries": 2, "usage": usage,
            "request": {"model": p, "messages": [{"role": "system", "content": p},
                {"role": p, "name": p, "content": [{"type": "text", "text": p},
                    {"type": "image_url", "image_url": {"url": "javascript:window.pwned=15"}},
                    {"type": "image_url", "image_url": {"url": "https://evil.invalid/a.png"}},
                    {"type": "image_url", "image_url": {"url": "data:image/svg+xml;base64,PHN2ZyBvbmxvYWQ9IndpbmRvdy5wd25lZD0xNiIvPg=="}},
                    {"type": "tool_use", "name": p, "input": {"__proto__": p}}]}],
                "tools": [{"name": p}]},
            "response": {"choices": [{"message": {"role": "assistant", "content": p,
                "tool_calls": [{"function": {"name": p, "arguments": p}}]}}]},
            "fault": "refusal", "why": p}),
        ),
        (Agent, "thought", json!(p)),
        (Agent, "called", json!({"function": p, "id": p, "of": 2})),
    ];
    for (n, action) in [
        json!({"action": "run", "command": p}),
        json!({"action": "type", "text": p}),
        json!({"action": "key", "keys": one(2)}),
        json!({"action": "click", "x": 1, "y": 2}),
        json!({"action": "write", "path": one(5), "content": p}),
        json!({"action": "edit", "path": one(6), "old": p, "new": p}),
        json!({"action": "cell", "code": p}),
        json!({"action": "browse", "code": p}),
        json!({"action": "message", "text": p}),
        json!({"action": "think", "thought": long}),
    ]
    .into_iter()
    .enumerate()
    {
        list.push((Agent, "thought", json!(one(n))));
        list.push((Agent, "action", action));
        let text = if n == 0 { &long } else { &p };
        list.push((
            Environment,
            "observation",
            json!({"kind": if n == 2 { "error" } else { "output" },
            "text": text, "exit_status": n, "cwd": p, "screen": screen(n),
            "changed": {"path": one(n), "existed": false, "diff": p}}),
        ));
    }
    list.extend([
        (Agent, "refused", json!(p)),
        (
            Agent,
            "condensed",
            json!({"from": 1, "to": 2, "summary": p}),
        ),
        (
            Agent,
            "kept",
            json!({"what": p, "blob": picture["blob"], "bytes": 5}),
        ),
        (
            Environment,
            "screen",
            json!({"what": "final", "screen": screen(3),
            "around": {"windows": [window(1), window(2)], "apps": []}}),
        ),
        (Agent, "action", json!({"action": "finish", "result": p})),
        (Harness, "end", json!("finished")),
        (
            Grader,
            "ran",
            json!({"command": p, "exit": p, "stdout": p, "stderr": p}),
        ),
        (Grader, "verdict", serde_json::to_value(verdict()).unwrap()),
    ]);
    list
}

fn verdict() -> Verdict {
    let p = all();
    let check = json!({"check": p, "passed": false, "score": 0.5, "reason": p, "weight": 1.0,
        "integrity": p, "tainted": true, "output": {"exit": p, "stdout": p, "stderr": p},
        "judged": {"model": p, "suspicious": [p], "votes": [{"reasoning": p, "passed": false,
            "confidence": 0.5, "evidence": [{"step": 1, "quote": p, "shows": p, "what": p}]}]},
        "parts": [{"check": p, "passed": true, "score": 1.0, "reason": p, "weight": 1.0}]});
    let verdict = json!({"passed": false, "score": 0.0, "checks": [check]});
    serde_json::from_value(verdict).unwrap()
}

/// Two trials: one that failed, one that faulted. Every text is hostile.
fn hostile(root: &Path, name: &str) {
    let p = all();
    let mut run = GeneratedRun::begin(&root.join(name), 2, &p).unwrap();
    run.manifest.suites[0].name = p.clone();
    run.manifest.suites[0].path = one(1);
    run.manifest.judge = None;
    run.manifest.host.os = one(2);
    run.manifest.models = vec![
        serde_json::from_value(
            json!({"name": one(3), "provider": one(4), "model": p, "host": one(5)}),
        )
        .unwrap(),
    ];
    for (n, task) in run.manifest.tasks.iter_mut().enumerate() {
        task.name = format!("{} {}", one(n), p);
        task.environment = one(7);
        task.image = Some(one(8));
        task.task = agon_core::TaskId::parse(["a-b.c/__proto__", "constructor/ñ.ö_1"][n]).unwrap();
    }
    run.folder.write_manifest(&run.manifest).unwrap();
    let mut record = run.recorder(0, 1);
    let mut cause = None;
    for (source, kind, content) in events(&run) {
        let answers = (kind == "observation").then_some(cause).flatten();
        let seq = record
            .record(source, answers, event(kind, content))
            .unwrap();
        if kind == "action" {
            cause = Some(seq);
        }
        run.clock.advance(Duration::from_millis(50));
    }
    let told = record.finish(Some(&verdict())).unwrap();
    run.passed(0, 11, told).unwrap();
    let (_, mut line) = last_line(&run);
    line.outcome = Outcome::Failed;
    line.score = 0.0;
    line.reason = p.clone();
    line.integrity = Some(p.clone());
    line.failed_checks = PAYLOADS.iter().map(|text| (*text).to_owned()).collect();
    line.end = Some(TurnEnd::Finished);
    let mut fault = run.recorder(1, 1);
    let broke = Fault::new(FaultClass::Environment, p.clone());
    fault
        .record(
            Source::Harness,
            None,
            agon_core::EventBody::Fault(broke.clone()),
        )
        .unwrap();
    let second = TrialLine {
        task: run.manifest.tasks[1].task.clone(),
        outcome: Outcome::Faulted,
        fault: Some(broke),
        end: None,
        events: fault.finish(None).unwrap(),
        ..line.clone()
    };
    run.writer.append_trial(&line).unwrap();
    run.writer.append_trial(&second).unwrap();
    run.writer.flush().unwrap();
    for verdict in [
        ReviewVerdict::Pass,
        ReviewVerdict::Clear,
        ReviewVerdict::Fail,
    ] {
        let review = Review::of(&line, verdict, &p, &p, line.at);
        review.append(&run.folder).unwrap();
    }
}

fn last_line(run: &GeneratedRun) -> (usize, TrialLine) {
    let text = std::fs::read_to_string(run.folder.trials_file()).unwrap();
    let line = text.lines().last().unwrap();
    (text.lines().count(), serde_json::from_str(line).unwrap())
}

/// What must not be on a page.
const FOUND: &str = r#"
    const found = [];
    if (window.pwned !== undefined) found.push("ran: " + window.pwned);
    const unseen = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff]/;
    for (const one of document.querySelectorAll("*")) {
        const name = one.localName;
        if (["iframe", "object", "embed", "base", "style", "math", "frame", "foreignobject", "animate"].includes(name)) found.push("element " + name);
        if (name === "script" && one.type !== "application/json" && !one.src) found.push("a script");
        if (name === "form" && one.method !== "dialog") found.push("a form");
        if (name === "meta" && one.httpEquiv && one.httpEquiv !== "Content-Security-Policy") found.push("a meta");
        for (const { name: attribute, value } of one.attributes) {
            if (attribute.startsWith("on")) found.push(name + " " + attribute + "=" + value.slice(0, 40));
            if (attribute === "style" && value.includes("url(")) found.push("style " + value);
            if (["srcdoc", "formaction", "ping", "xlink:href"].includes(attribute)) found.push(attribute);
            if (["href", "src", "action"].includes(attribute)) {
                const to = new URL(value, location.href);
                const ours = to.origin === location.origin || ["data:", "blob:"].includes(to.protocol);
                if (!ours || to.protocol === "data:" && !/^data:image\//.test(value)) found.push(name + " leads to " + value.slice(0, 60));
                if (/^data:image\/svg/.test(value) && name !== "link") found.push("a drawing of others");
            }
            if (unseen.test(value)) found.push("unseen in " + name + " " + attribute + ": " + JSON.stringify(value.slice(0, 80)));
        }
    }
    const walk = document.createTreeWalker(document.documentElement, NodeFilter.SHOW_TEXT);
    for (let node = walk.nextNode(); node; node = walk.nextNode()) {
        if (node.parentElement.localName === "script") continue;
        if (unseen.test(node.data)) found.push("unseen in text of " + node.parentElement.outerHTML.slice(0, 120));
    }
    for (const { name } of performance.getEntriesByType("resource")) {
        const to = new URL(name);
        if (to.origin !== location.origin && !["data:", "blob:"].includes(to.protocol)) found.push("asked " + name);
    }
    return [...new Set(found)].slice(0, 20);
"#;

/// Opens all that can be opened, and presses all that folds.
const UNFOLD: &str = r#"
    for (const one of document.querySelectorAll("details:not([open])")) one.open = true;
    for (const one of document.querySelectorAll("button.unfold[aria-expanded=false]")) one.click();
    return document.querySelectorAll("details:not([open]), button.unfold[aria-expanded=false]").length;
"#;

async fn is_harmless(stand: &Stand, what: &str) {
    for _ in 0..4 {
        stand.browser.js(UNFOLD).await.unwrap();
        // What is opened may be fetched first.
        stand
            .until("[...document.querySelectorAll('.opening[open] .opening-body')].every(one => one.innerText !== '…')")
            .await;
    }
    let found = stand.browser.js(FOUND).await.unwrap();
    assert_eq!(found, json!([]), "{what}");
    let url = stand.browser.url().await.unwrap();
    assert!(!url.contains("evil"), "{what}: {url}");
}

async fn says(stand: &Stand, part: &str) {
    let part = json!(part);
    stand
        .until(&format!("document.body.innerText.includes({part})"))
        .await;
}

const SHOWN: &str = "<script>window.pwned=1</script>";

/// Every page of the run, its tabs and its steps. `address` makes an address of the parts of one.
async fn look_through(stand: &Stand, address: &dyn Fn(&str) -> String) {
    let browser = &stand.browser;
    for place in ["runs", "run", "compare", "side"] {
        browser.open(&address(place)).await.unwrap();
        stand.ready().await;
        says(stand, SHOWN).await;
        is_harmless(stand, place).await;
    }
    for (place, steps) in [("trial", 13), ("faulted", 1)] {
        browser.open(&address(place)).await.unwrap();
        stand.ready().await;
        says(stand, SHOWN).await;
        let tabs = browser
            .js("return [...document.querySelectorAll('[role=tab]')].map(one => one.id)")
            .await
            .unwrap();
        assert!(tabs.as_array().unwrap().len() >= 4);
        for tab in tabs.as_array().unwrap() {
            let tab = tab.as_str().unwrap();
            browser.click(&format!("#{tab}")).await.unwrap();
            // Arrows move between tabs while one has the focus.
            browser.js("document.activeElement.blur()").await.unwrap();
            browser.press('\u{e011}').await.unwrap();
            for step in 0..=steps {
                stand
                    .until(&format!("(document.querySelector('.step-row.current .step-open') || document.body).href === undefined \
                        || new URL(document.querySelector('.step-row.current .step-open').href).searchParams.get('step') === '{step}'"))
                    .await;
                is_harmless(stand, &format!("{place} {tab} step {step}")).await;
                // Further steps differ in the tabs about steps alone.
                if !matches!(tab, "tab-Step" | "tab-Raw") {
                    break;
                }
                browser.press('\u{e014}').await.unwrap();
            }
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn hostile_texts_stay_texts_in_the_viewer() {
    let folder = folder();
    hostile(folder.path(), "one");
    hostile(folder.path(), "two");
    let stand = Stand::open(folder).await;
    let url = stand.url.clone();
    let address = |place: &str| {
        url.clone()
            + match place {
                "runs" => "/",
                "run" => "/runs/one?attempts=true",
                "compare" => "/compare?run=one&run=two",
                "side" => "/compare/a-b.c/__proto__?run=one&run=two",
                "trial" => "/runs/one/trial/a-b.c/__proto__/1/1",
                _ => "/runs/one/trial/constructor/%C3%B1.%C3%B6_1/1/1",
            }
    };
    look_through(&stand, &address).await;
    // The live page, menus of filters, and dialogs.
    stand.go("/runs/one/live").await;
    is_harmless(&stand, "live").await;
    stand.go("/runs/one").await;
    stand.browser.press('?').await.unwrap();
    is_harmless(&stand, "keys").await;
    stand.browser.press('\u{e00c}').await.unwrap();
    // The address is hostile, too.
    let query = "?q=%3Cscript%3Ewindow.pwned=20%3C/script%3E%E2%80%AE&check=%3Cimg%20src=x%20onerror=window.pwned=21%3E";
    stand.go(&format!("/runs/one{query}")).await;
    is_harmless(&stand, "a hostile query").await;
    let allowed = stand
        .browser
        .js_async(
            "const done = arguments[0]; fetch(location.href).then(answer => \
             done(answer.headers.get('content-security-policy')), error => done(String(error)));",
        )
        .await
        .unwrap();
    let allowed = allowed.as_str().unwrap();
    assert!(allowed.contains("default-src 'none'"), "{allowed}");
    assert!(
        allowed.contains("script-src 'self'") && !allowed.contains("unsafe"),
        "{allowed}"
    );
    stand.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn hostile_texts_stay_texts_in_an_export() {
    let folder = folder();
    hostile(folder.path(), "one");
    hostile(folder.path(), "two");
    let root = folder.path().to_owned();
    let library = Library::new(vec![root.clone()], root.join(".cache")).unwrap();
    let site = root.join(".site");
    export(
        &library.runs().unwrap(),
        &root.join(".cache"),
        &site,
        |_| {},
    )
    .unwrap();
    let stand = Stand::open(folder).await;
    let address = |place: &str| {
        let below = match place {
            "runs" => "",
            "run" => "runs/one/",
            "compare" => "compare/",
            "side" => "compare/task/a-b.c/__proto__/",
            "trial" => "runs/one/trial/a-b.c/__proto__/1/1/",
            _ => "runs/one/trial/constructor/%C3%B1.%C3%B6_1/1/1/",
        };
        format!("file://{}/{below}index.html", site.display())
    };
    look_through(&stand, &address).await;
    stand.close().await;
}
