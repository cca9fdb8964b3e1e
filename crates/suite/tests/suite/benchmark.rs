//! Benchmark folders: a dataset and templates become tasks.

use std::path::Path;

use agon_core::check::CheckKind;
use agon_core::environment::Grading;
use agon_core::user::Rules;
use agon_core::{Action, CutOff, EnvironmentKind, HandIn, PatchRules, Solution, Task, User};

use super::fixture::{Folder, checks, load};

const ROWS: &str = "{\"instance_id\": \"a/1\", \"question\": \"2+2?\", \"answer\": \"4\"}\n\
                    {\"instance_id\": \"b\", \"question\": \"1+2?\", \"answer\": \"3\"}\n";

fn small() -> Folder {
    Folder::new()
        .with("benchmark.toml", "")
        .with("dataset.jsonl", ROWS)
        .with("instruction.md.j2", "Answer: {{ question }}\n")
        .with("verify/evaluate.py", "print()\n")
}

fn read(tree: &agon_core::files::FileTree, path: &str) -> String {
    let entry = tree.find(Path::new(path)).unwrap();
    let (_, mut content) = tree.open(entry).unwrap();
    let mut text = String::new();
    content.read_to_string(&mut text).unwrap();
    text
}

fn verify(task: &Task) -> agon_core::files::FileTree {
    task.verify.open(&CutOff::after_freeze()).clone()
}

#[test]
fn an_almost_empty_file_is_enough() {
    let folder = small();
    let suite = folder.suite();
    assert_eq!((suite.name.as_str(), suite.tasks.len()), ("suite", 2));
    assert_eq!(suite.hidden, ["answer"]);
    let task = &suite.tasks[0];
    assert_eq!(task.id.to_string(), "suite/a_1");
    assert_eq!(task.name, "a/1");
    assert_eq!(task.instruction.show(), "Answer: 2+2?\n");
    assert_eq!(task.environment.kind, EnvironmentKind::Local);
    assert!(
        matches!(&checks(task)[0].kind, CheckKind::Script { path, .. } if path == "evaluate.py")
    );
    let row: serde_json::Value =
        serde_json::from_str(&read(&verify(task), "instance.json")).unwrap();
    assert_eq!(row["answer"], "4");
    assert_eq!(
        task.instance.on_host().as_ref().unwrap()["question"],
        "2+2?"
    );
    assert!(task.visible.show().is_empty());
    // The file itself may be given, too.
    let again = load(&folder.path().join("benchmark.toml")).unwrap();
    assert_eq!(again.digest, suite.digest);
}

#[test]
fn every_key_is_read() {
    let folder = Folder::new()
        .with(
            "benchmark.toml",
            r#"
name = "Repairs"
description = "Small repairs."
dataset = "rows.csv"
id = "key"
category = "kind"
instruction = "ask.j2"
hidden = ["secret*"]
max_iterations = 12
tags = ["a", "{{ kind }}"]
level = "wood"
actions = ["run", "message", "finish"]
partial = true
initialize = "start.sh.j2"
complete = "done.sh"
solution = "solve.sh.j2"

[limits]
seconds = 90

[environment]
kind = "container"
image = "img/{{ key }}:1"
cwd = "/app"
env = { NAME = "{{ key }}" }

[files]
visible = "shown"
per_instance = "own/{{ key }}"

[collect]
files = ["out/{{ key }}.txt"]
patch = "repo"
protected = ["tests/**"]

[evaluate]
script = "verify/grade.sh"
args = ["{{ secret_word }}"]
checks = [{ type = "answer", equals = "{{ secret_word }}", case = false }]
"#,
        )
        .with(
            "rows.csv",
            "key,kind,secret_word\nx1,hard,Open\nx2,easy,Sesame\n",
        )
        .with("ask.j2", "Repair {{ instance.key }}.")
        .with(
            "start.sh.j2",
            "#!/bin/bash\necho {{ key }}{# not shown #}\n",
        )
        .with("done.sh", "echo {{ untouched }}\n")
        .with("solve.sh.j2", "echo {{ secret_word }}\n")
        .with(
            "user.toml",
            "otherwise = \"No.\"\n[[rules]]\nwhen = \"word\"\nsay = \"It is {{ secret_word }}.\"\n",
        )
        .with("shown/a.txt", "common")
        .with("shown/b.txt", "common")
        .with("verify/grade.sh", "common")
        .with("verify/data.txt", "common")
        .with("own/x2/visible/b.txt", "own")
        .with("own/x2/verify/data.txt", "own")
        .with("own/x2/solution/solve.sh", "own\n");
    let suite = folder.suite();
    assert_eq!(
        (suite.name.as_str(), suite.description.as_str()),
        ("Repairs", "Small repairs.")
    );
    assert_eq!(suite.hidden, ["secret_word"]);
    let [one, two] = suite.tasks.try_into().unwrap();
    assert_eq!(
        [&one, &two].map(|task| task.id.to_string()),
        ["hard/x1", "easy/x2"]
    );
    assert_eq!(one.instruction.show(), "Repair x1.");
    assert_eq!((one.limits.steps, one.limits.seconds.get()), (12, 90.0));
    assert_eq!(one.tags, ["a", "hard"]);
    assert_eq!(one.actions.len(), 3);
    assert_eq!(one.environment.image.as_deref(), Some("img/x1:1"));
    assert_eq!(one.environment.cwd.as_deref(), Some("/app"));
    assert!(
        one.environment.grading.is_fresh(),
        "unless it says otherwise"
    );
    assert_eq!(one.environment.env["NAME"], "x1");
    assert_eq!(one.setup.as_deref(), Some("#!/bin/bash\necho x1\n"));
    let complete = one.complete.open(&CutOff::after_freeze()).clone();
    assert_eq!(complete.as_deref(), Some("echo {{ untouched }}\n"));
    assert_eq!(one.collect, ["out/x1.txt"]);
    let rules = PatchRules {
        repository: "repo".to_owned(),
        protected: vec!["tests/**".to_owned()],
    };
    assert_eq!(one.hand_in, HandIn::Patch(rules));
    let User::Rules(Rules { rules, .. }) = two.user.on_host() else {
        panic!("{:?}", two.user)
    };
    assert_eq!(rules[0].say, "It is Sesame.");
    let CheckKind::All {
        checks: parts,
        partial: true,
    } = checks(&one).remove(0).kind
    else {
        panic!("no partial credit")
    };
    let CheckKind::Answer(answer) = &parts[0].kind else {
        panic!("{parts:?}")
    };
    assert!(answer.judge(Some("open")).passed && !answer.judge(Some("sesame")).passed);
    let CheckKind::Script { path, args } = &parts[1].kind else {
        panic!("{parts:?}")
    };
    assert_eq!(
        (path.as_str(), args.as_slice()),
        ("grade.sh", &["Open".to_owned()][..])
    );

    let solution = |task: &Task| task.solution.on_host().clone().unwrap();
    let run = |text: &str| Solution::Actions(vec![Action::run(text)]);
    assert_eq!(
        [solution(&one), solution(&two)],
        [run("echo Open\n"), run("own\n")]
    );
    assert_eq!(read(one.visible.show(), "b.txt"), "common");
    assert_eq!(read(two.visible.show(), "b.txt"), "own");
    assert_eq!(read(two.visible.show(), "a.txt"), "common");
    assert_eq!(read(&verify(&two), "data.txt"), "own");
    assert_eq!(read(&verify(&two), "grade.sh"), "common");
}

#[test]
fn checks_run_where_the_agent_was_only_if_asked_to() {
    let container = "[environment]\nkind = \"container\"\nimage = \"a:1\"\n";
    let afresh = |more: &str| {
        let suite = small()
            .with("benchmark.toml", &format!("{container}{more}"))
            .suite();
        suite.tasks[0].environment.grading
    };
    assert_eq!(afresh(""), Grading::Fresh);
    assert_eq!(afresh("fresh_checks = true\n"), Grading::Fresh);
    assert_eq!(afresh("fresh_checks = false\n"), Grading::Used);
    assert_eq!(afresh("grading = \"alive\"\n"), Grading::Alive);
}

#[test]
fn actions_and_conversations() {
    let suite = Folder::new()
        .with(
            "benchmark.toml",
            "id = \"n\"\ncategory = \"sums\"\n[environment]\nkind = \"none\"\n[user]\nkind = \"nudge\"\nsolution_tags = true\n\
             [evaluate]\nchecks = [{ type = \"answer\", equals = \"{{ answer }}\", number = true }]\n\
             [[solution]]\naction = \"finish\"\nresult = \"{{ answer }}\"\n",
        )
        .with("dataset.json", "[{\"n\": 7, \"q\": \"1+1\", \"answer\": 2}]")
        .with("instruction.md.j2", "{{ q }}")
        .suite();
    let task = &suite.tasks[0];
    assert_eq!(task.id.to_string(), "sums/7");
    assert!(matches!(task.user.on_host(), User::Nudge(nudge) if nudge.solution_tags));
    let finish = Action::Finish {
        result: Some("2".to_owned()),
    };
    assert_eq!(
        *task.solution.on_host(),
        Some(Solution::Actions(vec![finish]))
    );
    // Nothing reads it, so it is not there.
    assert!(verify(task).is_empty());
}

#[test]
fn digests_cover_the_row_where_it_counts() {
    let digests = |rows: &str| -> Vec<_> {
        let suite = small().with("dataset.jsonl", rows).suite();
        suite
            .tasks
            .iter()
            .map(|task| (task.played, task.digest))
            .collect()
    };
    let before = digests(ROWS);
    let answer = digests(&ROWS.replace("\"4\"", "\"5\""));
    assert_eq!(before[0].0, answer[0].0, "the agent sees the same");
    assert_ne!(before[0].1, answer[0].1, "the grader does not");
    assert_eq!(before[1], answer[1]);
    let question = digests(&ROWS.replace("2+2", "3+1"));
    assert_ne!(before[0].0, question[0].0);
}

#[test]
fn the_order_is_that_of_the_dataset() {
    let rows = "{\"instance_id\": \"z\", \"question\": \"\"}\n{\"instance_id\": \"a\", \"question\": \"\"}\n";
    let suite = small().with("dataset.jsonl", rows).suite();
    let ids: Vec<_> = suite.tasks.iter().map(|task| task.id.id()).collect();
    assert_eq!(ids, ["z", "a"]);
}

#[test]
fn wrong_files_are_named() {
    let complaints = [
        ("unknown key", small().with("benchmark.toml", "datset = \"x\"\n")),
        ("no dataset", small().with("benchmark.toml", "dataset = \"x.csv\"\n")),
        ("outside", small().with("benchmark.toml", "instruction = \"../x.j2\"\n")),
        ("no id", small().with("benchmark.toml", "id = \"instance_ids\"\n")),
        ("hidden", small().with("instruction.md.j2", "Hello.\n{{ question }} is {{ answer }}\n")),
        ("hidden in an image", small().with("benchmark.toml", "[environment]\nkind = \"container\"\nimage = \"a:{{ answer }}\"\n")),
        ("typo", small().with("instruction.md.j2", "Hello.\n\n{{ qestion }}\n")),
        ("syntax", small().with("instruction.md.j2", "Hello.\n{{ question }\n")),
        ("environment", small().with("benchmark.toml", "[environment]\nkidn = \"local\"\n")),
        ("bad image", small().with("benchmark.toml", "[environment]\nkind = \"container\"\nimage = \"{{ question }} x\"\n")),
        ("steps twice", small().with("benchmark.toml", "max_iterations = 3\n[limits]\nsteps = 4\n")),
        ("two users", small().with("benchmark.toml", "[user]\nkind = \"nudge\"\n").with("user.toml", "kind = \"nudge\"\n")),
        ("wrong user", small().with("user.toml", "kind = \"nudge\"\nsay = \"x\"\n")),
        ("same ids", small().with("dataset.jsonl", "{\"instance_id\": \"a/b\", \"question\": 1}\n{\"instance_id\": \"a b\", \"question\": 1}\n")),
        ("no way to grade", small().with("benchmark.toml", "[evaluate]\nchecks = []\n")),
        ("no script", small().with("benchmark.toml", "[evaluate]\nscript = \"other.py\"\n")),
        ("no number", small().with("benchmark.toml", "[evaluate]\nchecks = [{ type = \"answer\", equals = \"{{ question }}\", number = true }]\n")),
    ];
    let all: String = complaints
        .iter()
        .map(|(what, folder)| format!("--- {what}\n{}", folder.complaint()))
        .collect();
    insta::assert_snapshot!(all);
}

#[test]
fn a_row_that_is_wrong_leaves_the_others_alone() {
    let rows = "{\"instance_id\": \"a b\"}\n{\"instance_id\": \"b\", \"question\": 1}\n";
    let suite = small().with("dataset.jsonl", rows).suite();
    let [bad, good] = &suite.tasks[..] else {
        panic!("{:?}", suite.tasks)
    };
    let why = bad.unplayable.as_deref().unwrap();
    assert!(why.contains("instruction.md.j2:1:"), "{why}");
    assert_eq!((bad.id.id(), &*bad.name), ("a_b", "a b"));
    assert!(bad.instance.on_host().is_some());
    assert_eq!(good.unplayable, None);
    let found: Vec<_> = agon_suite::lint(&suite)
        .into_iter()
        .filter(|found| found.task == bad.id)
        .collect();
    assert_eq!(found.len(), 1, "{found:?}");
    assert!(found[0].message.starts_with("can't be played: "));
    let mended = small().with("dataset.jsonl", ROWS).suite();
    assert_ne!(mended.digest, suite.digest);
}

#[test]
fn a_mistake_of_every_row_is_told_once() {
    let rows: String = (0..500)
        .map(|n| format!("{{\"instance_id\": \"{n}\", \"question\": \"{n} {n}\"}}\n"))
        .collect();
    let folder = small().with("dataset.jsonl", &rows);
    let same = folder.with("benchmark.toml", "[limits]\nsteps = 0\n");
    assert_eq!(same.load().unwrap_err().errors().len(), 1);
    let image = "[environment]\nkind = \"container\"\nimage = \"{{ question }}\"\n";
    let each = same.with("benchmark.toml", image);
    assert_eq!(each.load().unwrap_err().errors().len(), 20);
}

#[test]
fn instances_stay_in_the_folder() {
    let folder = small().with(
        "benchmark.toml",
        "[files]\nper_instance = \"{{ question }}\"\n",
    );
    let escape = ROWS.replace("2+2?", "../../etc");
    let suite = folder.with("dataset.jsonl", &escape).suite();
    let why = suite.tasks[0].unplayable.as_deref().unwrap();
    assert!(why.contains("does not stay"), "{why}");
    assert_eq!(suite.tasks[1].unplayable, None);
    let folder = small().with("instances/x/visible/a", "x");
    std::os::unix::fs::symlink("/etc", folder.path().join("instances/b")).unwrap();
    assert!(folder.complaint().contains("leads out"));
}
