//! What goes into the copy, and what does not.

use super::super::rule::Given;
use super::*;

fn write(path: PathBuf, text: &str) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}

/// A folder with an agent, and one for copies.
fn folders() -> (TempDir, PathBuf, TempDir) {
    let home = TempDir::new().unwrap();
    let agent = home.path().canonicalize().unwrap().join("agent");
    write(agent.join("agent.py"), "print()");
    write(agent.join("lib/x.py"), "x = 1");
    (home, agent, TempDir::new().unwrap())
}

/// What the agent `agent.py` in a folder is given by the rule.
fn bundle(
    folder: &Path,
    scratch: &TempDir,
    of_run: &[PathBuf],
    asked: &[&str],
    bounds: Bounds,
) -> Result<Bundle, SetupError> {
    let asked: Vec<String> = asked.iter().map(ToString::to_string).collect();
    let named = ["agent.py".into()];
    let rule = Rule::new(Given {
        folder,
        of_run,
        named: &named,
        asked: &asked,
        shown: &["/usr"],
    })?;
    stage(&rule, scratch.path(), bounds)
}

fn staged(agent: &Path, scratch: &TempDir, of_run: &[PathBuf]) -> Bundle {
    bundle(agent, scratch, of_run, &[], BOUNDS).unwrap()
}

fn left_out(bundle: &Bundle) -> Vec<(&str, &str)> {
    let all = bundle.about().left_out.iter();
    all.map(|one| (one.name.as_str(), one.why.as_str()))
        .collect()
}

fn names(folder: &Path) -> Vec<String> {
    let mut names: Vec<String> = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}

#[test]
fn the_copy_is_readable_by_everybody_and_goes_with_the_run() {
    let (_home, agent, scratch) = folders();
    fs::set_permissions(agent.join("agent.py"), Permissions::from_mode(0o700)).unwrap();
    fs::set_permissions(agent.join("lib"), Permissions::from_mode(0o700)).unwrap();
    let copy = staged(&agent, &scratch, &[]);
    let mode = |name: &str| {
        let meta = fs::metadata(copy.path().unwrap().join(name)).unwrap();
        meta.permissions().mode() & 0o777
    };
    assert_eq!(
        [mode("."), mode("agent.py"), mode("lib"), mode("lib/x.py")],
        [0o755, 0o755, 0o755, 0o644]
    );
    drop(copy);
    assert!(names(scratch.path()).is_empty());
}

#[test]
fn the_digest_names_content_names_and_modes() {
    let (_home, agent, scratch) = folders();
    let digest = || staged(&agent, &scratch, &[]).digest();
    let first = digest();
    assert_eq!(first, digest());
    write(agent.join(".git/HEAD"), "x");
    write(agent.join("__pycache__/x.pyc"), "x");
    assert_eq!(first, digest());
    fs::set_permissions(agent.join("lib/x.py"), Permissions::from_mode(0o755)).unwrap();
    let executable = digest();
    write(agent.join("lib/x.py"), "x = 2");
    let changed = digest();
    fs::rename(agent.join("lib/x.py"), agent.join("lib/y.py")).unwrap();
    let mut all = vec![first, executable, changed, digest()];
    all.sort();
    all.dedup();
    assert_eq!(all.len(), 4);
}

#[test]
fn of_a_folder_of_its_own_all_goes_in_but_secrets_suites_and_records() {
    let (_home, agent, scratch) = folders();
    write(agent.join(".env"), "KEY=1");
    write(agent.join("prompt.txt"), "You are an agent.");
    write(agent.join("suites/mine/suite.toml"), "");
    write(agent.join("runs/1/run.json"), "{}");
    write(agent.join("runs/1/trials.jsonl"), "");
    write(agent.join("calls.jsonl"), "{\"agon_tape\":1}\n");
    write(agent.join("target/CACHEDIR.TAG"), "");
    let copy = staged(&agent, &scratch, &[agent.join("absent")]);
    assert!(!copy.about().shared);
    assert_eq!(copy.about().taken, ["agent.py", "lib/x.py", "prompt.txt"]);
    assert_eq!(copy.about().count, 3);
    assert_eq!(
        names(copy.path().unwrap()),
        ["agent.py", "lib", "prompt.txt", "runs", "suites"]
    );
    assert_eq!(
        left_out(&copy),
        [
            (".env", "its name begins with a dot"),
            ("calls.jsonl", "it is a tape of model calls"),
            ("runs/1", "it is the record of a run"),
            ("suites/mine", "it belongs to a suite"),
            ("target", "it is a cache"),
        ]
    );
    assert_eq!(copy.notes(), Vec::<String>::new());
}

#[test]
fn of_a_folder_that_holds_files_of_the_run_only_program_text_goes_in() {
    let (_home, agent, scratch) = folders();
    write(agent.join("agent.py"), "open('data/prompt.txt')");
    write(agent.join("other.toml"), "[llm]");
    write(agent.join("data/prompt.txt"), "");
    write(agent.join("answers.csv"), "");
    write(agent.join("secret/check.py"), "");
    fs::hard_link(agent.join("other.toml"), agent.join("same.py")).unwrap();
    let of_run = [agent.join("other.toml"), agent.join("secret")];
    let copy = staged(&agent, &scratch, &of_run);
    assert!(copy.about().shared);
    assert_eq!(copy.about().taken, ["agent.py", "lib/x.py"]);
    assert_eq!(names(copy.path().unwrap()), ["agent.py", "lib"]);
    let (of_run_why, other) = (Why::OfRun.to_string(), Why::NotProgram.to_string());
    assert_eq!(
        left_out(&copy),
        [
            ("answers.csv", other.as_str()),
            ("data", &other),
            ("other.toml", &of_run_why),
            ("same.py", &of_run_why),
            ("secret", &of_run_why),
        ]
    );
    let notes = copy.notes().join("\n");
    assert!(notes.contains("answers.csv, data: name what"), "{notes}");
    assert!(notes.contains("agent.py names data, which"), "{notes}");

    let asked = ["data", "other.toml", "*.csv", "secret/**"];
    let copy = bundle(&agent, &scratch, &of_run, &asked, BOUNDS).unwrap();
    assert_eq!(
        copy.about().taken,
        ["agent.py", "answers.csv", "data/prompt.txt", "lib/x.py"]
    );
    let wrong = bundle(&agent, &scratch, &of_run, &["[x"], BOUNDS).unwrap_err();
    assert!(wrong.to_string().contains("--agent-files [x"), "{wrong}");
}

#[test]
fn a_file_with_a_key_of_this_process_is_withheld() {
    let (_home, agent, scratch) = folders();
    let key = "sk-bundle-0123456789-key";
    agon_llm::Key::new(key);
    write(
        agent.join("notes.txt"),
        &format!("{}{key}", "x".repeat(70_000)),
    );
    write(agent.join("lib/y.py"), &format!("KEY = '{key}'"));
    let copy = bundle(&agent, &scratch, &[], &["notes.txt"], BOUNDS).unwrap();
    assert_eq!(copy.about().taken, ["agent.py", "lib/x.py"]);
    let why = Why::Key.to_string();
    assert_eq!(
        left_out(&copy),
        [("lib/y.py", why.as_str()), ("notes.txt", &why)]
    );
    assert!(copy.notes()[0].contains("lib/y.py, notes.txt"));
    assert!(!copy.path().unwrap().join("notes.txt").exists());
    write(agent.join("agent.py"), &format!("KEY = '{key}'"));
    let error = bundle(&agent, &scratch, &[], &[], BOUNDS).unwrap_err();
    assert!(error.to_string().contains("names agent.py"), "{error}");
    assert!(!error.to_string().contains(key));
}

#[test]
fn an_interpreter_of_the_agents_own_brings_its_library() {
    let (_home, agent, scratch) = folders();
    write(agent.join(".venv/pyvenv.cfg"), "");
    write(agent.join(".venv/lib/.x/data.json"), "");
    write(agent.join("target/CACHEDIR.TAG"), "");
    write(agent.join("target/debug/tool"), "");
    write(agent.join("target/debug/deps/other"), "");
    fs::create_dir_all(agent.join(".venv/bin")).unwrap();
    symlink("/usr/bin/env", agent.join(".venv/bin/python")).unwrap();
    symlink("/opt/python", agent.join(".venv/bin/python3")).unwrap();
    let taken = |named: &[PathBuf]| {
        let rule = Rule::new(Given {
            folder: &agent,
            of_run: &[],
            named,
            asked: &[],
            shown: &["/usr"],
        });
        stage(&rule.unwrap(), scratch.path(), BOUNDS).map(|copy| copy.about().taken.clone())
    };
    assert_eq!(
        taken(&[".venv/bin/python".into(), "target/debug/tool".into()]).unwrap(),
        [
            ".venv/lib/.x/data.json",
            ".venv/pyvenv.cfg",
            "agent.py",
            "lib/x.py",
            "target/debug/tool",
            ".venv/bin/python",
        ]
    );
    let error = taken(&[".venv/bin/python3".into()]).unwrap_err();
    assert!(error.to_string().contains("leads out"), "{error}");
}

#[test]
fn links_are_never_followed() {
    let (home, agent, scratch) = folders();
    write(home.path().join("outside/secret"), "s3cret");
    symlink("../outside/secret", agent.join("leak")).unwrap();
    symlink("../outside", agent.join("leaks")).unwrap();
    symlink("agent.py", agent.join("main.py")).unwrap();
    symlink(".", agent.join("loop")).unwrap();
    let copy = staged(&agent, &scratch, &[]);
    let out = Why::LinkOut.to_string();
    assert_eq!(
        left_out(&copy),
        [("leak", out.as_str()), ("leaks", out.as_str())]
    );
    assert!(!copy.path().unwrap().join("leak").is_symlink());
    assert_eq!(
        fs::read(copy.path().unwrap().join("main.py")).unwrap(),
        b"print()"
    );
}

#[test]
fn a_folder_that_is_too_much_is_refused_and_nothing_is_left() {
    let (_home, agent, scratch) = folders();
    for bounds in [
        Bounds {
            files: 2,
            bytes: 1000,
        },
        Bounds {
            files: 9,
            bytes: 11,
        },
    ] {
        let error = bundle(&agent, &scratch, &[], &[], bounds).unwrap_err();
        assert!(error.to_string().contains("cmd-host:"), "{error}");
    }
    assert!(
        bundle(
            &agent,
            &scratch,
            &[],
            &[],
            Bounds {
                files: 3,
                bytes: 12
            }
        )
        .is_ok()
    );
    assert!(names(scratch.path()).is_empty());
}

#[test]
fn a_folder_of_a_suite_a_run_or_the_whole_disk_is_refused() {
    let (home, agent, scratch) = folders();
    let refused = |folder: &Path, hidden: &[PathBuf]| {
        bundle(folder, &scratch, hidden, &[], BOUNDS)
            .is_err_and(|error| matches!(error, SetupError::Folder { .. }))
    };
    assert!(refused(Path::new("/"), &[]));
    assert!(refused(&agent, &[home.path().to_owned()]));
    write(agent.join("suite.toml"), "");
    assert!(refused(&agent, &[]));
}
