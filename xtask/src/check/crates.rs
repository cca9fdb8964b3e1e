//! The crate order: data flows one way, so a crate may use only crates above it.

use super::Finding;
use super::manifests::Member;

/// From the ground up. Dev-dependencies are exempt.
const ORDER: [&str; 20] = [
    "core", "stats", "suite", "store", "sandbox", "desktop", "vision", "office", "llm", "agent",
    "grade", "engine", "arena", "predict", "workflow", "testcase", "report", "viewer", "testkit",
    "agon",
];
/// Stands beside the order: it must work when nothing else does.
const OUTSIDE: &str = "xtask";
/// Programs of their own (to be tried on, or started when they are needed): nothing builds on them, so
/// they have no place in the order.
const PROGRAMS: [&str; 2] = ["examples", "local"];
/// For tests alone.
const TEST_ONLY: &str = "agon-testkit";

pub(super) fn check(members: &[Member]) -> Vec<Finding> {
    members.iter().flat_map(check_member).collect()
}

fn check_member(member: &Member) -> Vec<Finding> {
    if member.name == OUTSIDE {
        return member
            .uses
            .iter()
            .map(|used| member.finding(used, format!("{OUTSIDE} must not use {used}")))
            .collect();
    }
    if PROGRAMS
        .iter()
        .any(|folder| member.manifest.starts_with(folder))
    {
        return Vec::new();
    }
    let Some(place) = place(&member.name) else {
        return vec![member.finding(
            "name",
            format!("`{}` has no place in the crate order", member.name),
        )];
    };
    let name = &member.name;
    let wrong = |used: &String| {
        let message = if used == TEST_ONLY {
            format!("{name} may use {used} only as a dev-dependency")
        } else if self::place(used).is_some_and(|used| used < place) {
            return None;
        } else {
            format!("{name} must not use {used}, which does not stand above it in the crate order")
        };
        Some(member.finding(used, message))
    };
    member.uses.iter().filter_map(wrong).collect()
}

fn place(package: &str) -> Option<usize> {
    let short = package.strip_prefix("agon-").unwrap_or(package);
    let expected = |name: &str| match name {
        "agon" => package == "agon",
        _ => name == short && package != short,
    };
    ORDER.iter().position(|name| expected(name))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn findings(name: &str, uses: &[&str]) -> Vec<String> {
        let text: String = uses
            .iter()
            .map(|used| format!("{used}.workspace = true\n"))
            .collect();
        let uses = uses.iter().map(|&used| used.to_owned()).collect();
        let member = Member::parse(name, "Cargo.toml", format!("[dependencies]\n{text}"), uses);
        check(&[member.unwrap()])
            .iter()
            .map(Finding::to_string)
            .collect()
    }

    #[test]
    fn crates_above_may_be_used() {
        assert!(findings("agon-engine", &["agon-core", "agon-grade"]).is_empty());
        assert!(findings("agon", &["agon-core", "agon-viewer"]).is_empty());
        assert!(findings("xtask", &[]).is_empty());
    }

    #[test]
    fn crates_below_may_not() {
        assert_eq!(
            findings("agon-core", &["agon-engine"]),
            [
                "Cargo.toml:2: agon-core must not use agon-engine, which does not stand above it in \
              the crate order"
            ]
        );
        assert_eq!(
            findings("agon-stats", &["agon-core", "agon-stats"]).len(),
            1
        );
        assert_eq!(findings("agon-viewer", &["agon"]).len(), 1);
    }

    #[test]
    fn the_testkit_and_the_tasks_stand_apart() {
        assert!(findings("agon", &["agon-testkit"])[0].contains("only as a dev-dependency"));
        assert_eq!(findings("xtask", &["agon-core"]).len(), 1);
        assert!(findings("agon-core", &["xtask"])[0].contains("must not use xtask"));
    }

    #[test]
    fn examples_have_no_place_and_nothing_builds_on_them() {
        let uses = vec!["agon-core".to_owned()];
        let example = Member::parse("agon-game", "examples/game/Cargo.toml", "", uses);
        assert_eq!(check(&[example.unwrap()]), []);
        let local = Member::parse("agon-local", "local/Cargo.toml", "", Vec::new());
        assert_eq!(check(&[local.unwrap()]), []);
        assert_eq!(findings("agon-llm", &["agon-local"]).len(), 1);
        assert_eq!(findings("agon-core", &["agon-game"]).len(), 1);
    }

    #[test]
    fn every_crate_needs_a_place() {
        for stranger in ["agon-misc", "core", "agon-agon"] {
            assert_eq!(findings(stranger, &[]).len(), 1, "{stranger}");
        }
    }
}
