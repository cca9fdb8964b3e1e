//! Users, hand-ins and answers of native tasks.

use agon_core::check::CheckKind;
use agon_core::user::{Nudge, Persona, Rule, Rules};
use agon_core::{CutOff, HandIn, PatchRules, User};

use super::fixture::{Folder, checks, one};

fn user(yaml: &str) -> User {
    one(&format!("task: x\nuser: {yaml}\n"))
        .user
        .on_host()
        .clone()
}

fn text(text: &str) -> String {
    text.to_owned()
}

#[test]
fn every_kind_of_user_is_read() {
    assert_eq!(user("{kind: none}"), User::Script(vec![]));
    assert_eq!(user("{}"), User::Script(vec![]));
    let script = User::Script(vec![text("1"), text("yes")]);
    assert_eq!(user("{replies: [1, yes]}"), script);
    assert_eq!(user("{kind: script, replies: [1, yes]}"), script);
    assert_eq!(
        user("{kind: fixed, say: Go on.}"),
        User::Fixed(text("Go on."))
    );
    assert_eq!(user("{say: 42}"), User::Fixed(text("42")));
    assert_eq!(user("{kind: nudge}"), User::Nudge(Nudge::default()));
    assert_eq!(
        user("{kind: nudge, solution_tags: true, answer: '<a>.*</a>'}"),
        User::Nudge(Nudge {
            solution_tags: true,
            answer: Some(text("<a>.*</a>")),
        })
    );
    let rule = |when: &str, say: &str, once| Rule {
        when: text(when),
        say: text(say),
        once,
    };
    assert_eq!(
        user(
            "{rules: [{when: port, say: 8080, once: true}, {when: bye, say: /exit}], otherwise: Hm?}"
        ),
        User::Rules(Rules {
            rules: vec![rule("port", "8080", true), rule("bye", "/exit", false)],
            otherwise: text("Hm?"),
        })
    );
    assert_eq!(
        user(
            "{kind: persona, character: A clerk., goal: A refund., facts: [order 7], model: small}"
        ),
        User::Persona(Persona {
            character: text("A clerk."),
            goal: text("A refund."),
            facts: vec![text("order 7")],
            model: Some(text("small")),
            patience: 20,
        })
    );
}

#[test]
fn what_is_handed_in() {
    let task = one(
        "task: x\nhand_in: {patch: repo/, protected: ['tests/**']}\ncomplete_cmd: make\ncollect: [out/a.txt]\n",
    );
    assert_eq!(
        task.hand_in,
        HandIn::Patch(PatchRules {
            repository: text("repo"),
            protected: vec![text("tests/**")],
        })
    );
    let script = task.complete.open(&CutOff::after_freeze());
    assert_eq!(script.as_deref(), Some("make"));
    assert_eq!(task.collect, ["out/a.txt"]);
    let plain = one("task: x\ncomplete_cmd: None\n");
    assert_eq!(plain.hand_in, HandIn::Work);
    assert!(plain.complete.inspect(Option::is_none));
    let image = "environment: {kind: container, image: a:1, cwd: /app}";
    let cwd = one(&format!("task: x\n{image}\n")).environment.cwd;
    assert_eq!(cwd.as_deref(), Some("/app"));
}

#[test]
fn answers_are_taken_out_and_compared() {
    let score = |check: &str, answer: &str| {
        let task = one(&format!("task: x\nchecks:\n  - {check}\n"));
        let CheckKind::Answer(test) = checks(&task).remove(0).kind else {
            panic!("{check} is no answer check")
        };
        test.judge(Some(answer)).passed
    };
    let tagged =
        "{type: answer, pattern: '<solution>(.*?)</solution>', equals: 1250, number: true}";
    assert!(score(tagged, "So <solution>1,250</solution>."));
    assert!(score(tagged, "<solution>\n1250\n</solution>"));
    assert!(!score(tagged, "1250"));
    assert!(score(
        "{type: answer, one_of: [Yes, y], case: false}",
        " YES "
    ));
    assert!(!score("{type: answer, one_of: [Yes, y]}", "YES"));
    assert!(score(
        "{type: answer, pattern: '\\d+', number: 7, tolerance: 1}",
        "about 8"
    ));
}

#[test]
fn digests_cover_what_is_new() {
    let digest = |more: &str| one(&format!("task: x\n{more}")).digest;
    let plain = digest("");
    let others = [
        "user: {kind: fixed, say: a}\n",
        "user: {kind: nudge}\n",
        "user: {kind: nudge, answer: a}\n",
        "user: {rules: [{when: a, say: b}], otherwise: c}\n",
        "user: {rules: [{when: a, say: b, once: true}], otherwise: c}\n",
        "user: {character: a, goal: b}\n",
        "user: {character: a, goal: b, facts: [c]}\n",
        "hand_in: {patch: .}\n",
        "hand_in: {patch: a}\n",
        "hand_in: {patch: a, protected: [b]}\n",
        "complete_cmd: a\n",
        "complete_cmd: b\n",
        "collect: [a]\n",
        "collect: [a, b]\n",
        "checks: [{type: answer, equals: a}]\n",
        "checks: [{type: answer, equals: a, case: false}]\n",
        "environment: {kind: container, image: a, cwd: /a}\n",
        "environment: {kind: container, image: a, cwd: /b}\n",
    ];
    let mut all: Vec<_> = others.iter().map(|more| digest(more)).collect();
    all.push(plain);
    all.sort();
    all.dedup();
    assert_eq!(all.len(), others.len() + 1);
    assert_eq!(digest("user: {kind: none}\n"), plain);
}

#[test]
fn wrong_keys_are_placed() {
    let folder = Folder::of_task("task: x\nuser: {kind: fixed, replies: [a]}\n")
        .with("demo/b.yaml", "task: x\nuser: {kind: nudge, answer: '('}\n")
        .with("demo/c.yaml", "task: x\nuser: {rules: [{when: '[', say: a}], otherwise: b}\n")
        .with("demo/d.yaml", "task: x\nuser: {kind: persona, goal: a}\n")
        .with("demo/e.yaml", "task: x\nuser: {kind: nugde}\n")
        .with("demo/f.yaml", "task: x\nhand_in: {patch: ../a, protected: ['[']}\ncollect: [a, /b]\n")
        .with("demo/g.yaml", "task: x\nenvironment: {kind: none}\nhand_in: {patch: a}\ncomplete_cmd: a\n")
        .with("demo/h.yaml", "task: x\nenvironment: {cwd: /a}\n")
        .with("demo/i.yaml", "task: x\nenvironment: {kind: container, image: a, cwd: a/../b}\n")
        .with(
            "demo/j.yaml",
            "task: x\nchecks:\n  - {type: answer}\n  - {type: answer, pattern: (a)(b), equals: c}\n  \
             - {type: answer, equals: a, number: true}\n  - {type: answer, equals: a, tolerance: 1}\n  \
             - {type: answer, equals: ' '}\n  - {type: answer, number: 1, equals: 1}\n  \
             - {type: returned_result, number: true}\n  - {type: answer, number: 3, case: false}\n",
        );
    insta::assert_snapshot!(folder.complaint());
}
