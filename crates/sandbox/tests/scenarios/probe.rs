//! Probes: commands that a sandbox must refuse. That one ends badly says little by itself: it ends so too
//! where its tool is missing, or where it never came to the point.

/// Begins the line that names a tool which is not there.
const MISSING: &str = "no such tool: ";

/// A probe as Bash is to run it. Bash names every tool that it does not find, also in the middle of a
/// pipe, and where the probe throws its errors away.
pub(crate) fn watched(probe: &str) -> String {
    let handler = format!(
        "command_not_found_handle() {{ printf '\\n{MISSING}%s\\n' \"$1\" >&9; return 127; }}"
    );
    format!("exec 9>&1\n{handler}\n{probe}\n")
}

/// Says why a watched probe that ended so was not refused, if it was not. Without a status, something else
/// ended it. `own` is the status of a program that refuses with 126 or 127 itself.
pub(crate) fn refusal(
    probe: &str,
    status: Option<i32>,
    said: &str,
    own: Option<i32>,
) -> Result<(), String> {
    if let Some(tool) = said.lines().find_map(|line| line.strip_prefix(MISSING)) {
        return Err(format!(
            "`{probe}` tried nothing: the tool `{tool}` is missing"
        ));
    }
    match status {
        Some(0) => Err(format!("`{probe}` worked: {said}")),
        None => Err(format!("`{probe}` did not come to its end: {said}")),
        _ if own.is_some() && own != status => Err(format!(
            "`{probe}` ended with {status:?}, not {own:?}: {said}"
        )),
        // A shell's own words for a program that is not there or can not be started.
        Some(126 | 127) if own.is_none() => Err(format!(
            "`{probe}` tried nothing, as its status {status:?} says: {said}"
        )),
        Some(_) => Ok(()),
    }
}

/// What came of a probe on the host itself.
fn judged(probe: &str, own: Option<i32>) -> Result<(), String> {
    let ended = std::process::Command::new("bash")
        .args(["-c", &watched(probe)])
        .output()
        .unwrap();
    let said = [ended.stdout, ended.stderr].concat();
    refusal(
        probe,
        ended.status.code(),
        &String::from_utf8_lossy(&said),
        own,
    )
}

#[test]
fn a_probe_is_refused_only_where_it_tried() {
    for refused in [
        "false",
        "ls /no/such/place",
        "echo x > /no/such/place",
        "exit 3",
    ] {
        assert_eq!(judged(refused, None), Ok(()));
    }
    for (probe, why) in [
        ("true", "worked"),
        ("agon-no-tool -p 1", "`agon-no-tool` is missing"),
        (
            "agon-no-tool 2>/dev/null | grep x",
            "`agon-no-tool` is missing",
        ),
        (
            "printf said; [ \"$(agon-no-tool)\" ]",
            "`agon-no-tool` is missing",
        ),
        ("sh -c agon-no-tool", "status Some(127)"),
        ("/usr/bin/env agon-no-tool", "status Some(127)"),
        ("/etc/passwd", "status Some(126)"),
        ("kill -9 $$", "did not come to its end"),
    ] {
        let judged = judged(probe, None).unwrap_err();
        assert!(judged.contains(why), "{judged}");
    }
}

#[test]
fn a_status_of_its_own_is_the_only_one_that_counts() {
    assert_eq!(judged("exit 127", Some(127)), Ok(()));
    for probe in ["true", "exit 1", "agon-no-tool"] {
        judged(probe, Some(127)).unwrap_err();
    }
}
