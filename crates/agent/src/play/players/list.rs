//! Which players there are. Only this file knows them all.

use super::super::contract::Player;
use super::{hexagon, noop, one_key, random_keys};

/// Makes any number of the same player.
pub type Maker = Box<dyn Fn() -> Box<dyn Player> + Send + Sync>;

type Make = fn(argument: Option<&str>) -> Result<Maker, String>;

/// How a player is named, explained and made.
#[derive(Debug)]
pub struct PlayerKind {
    pub name: &'static str,
    /// What may follow the name, for people; empty if nothing does.
    pub argument: &'static str,
    pub about: &'static str,
    /// From what follows the name and its colon, if anything does.
    make: Make,
}

impl PlayerKind {
    pub(super) const fn new(
        name: &'static str,
        argument: &'static str,
        about: &'static str,
        make: Make,
    ) -> Self {
        Self {
            name,
            argument,
            about,
            make,
        }
    }
}

pub static PLAYERS: &[PlayerKind] = &[
    noop::PLAYER,
    one_key::PLAYER,
    random_keys::PLAYER,
    hexagon::PLAYER,
];

/// A player by its spec: `noop`, `one-key:Left`. The error says which there are.
pub fn find(spec: &str) -> Result<Box<dyn Player>, String> {
    maker(spec).map(|make| make())
}

/// The same for those who need more than one.
pub fn maker(spec: &str) -> Result<Maker, String> {
    let spec = spec.trim();
    let (name, argument) = match spec.split_once(':') {
        Some((name, argument)) => (name, Some(argument)),
        None => (spec, None),
    };
    let Some(kind) = PLAYERS.iter().find(|kind| kind.name == name) else {
        let all: Vec<String> = PLAYERS
            .iter()
            .map(|kind| format!("{}{}", kind.name, kind.argument))
            .collect();
        let name: String = name.chars().take(100).collect();
        return Err(format!(
            "no player is called `{name}`; there are: {}",
            all.join(", ")
        ));
    };
    if kind.argument.is_empty() && argument.is_some() {
        return Err(format!("the player `{name}` takes nothing after its name"));
    }
    (kind.make)(argument)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn players_are_found_by_name() {
        for kind in PLAYERS {
            assert!(find(kind.name).is_ok(), "{}", kind.name);
        }
        assert!(find(" one-key:Left ").is_ok());
        let why = |spec| find(spec).err().unwrap();
        assert!(why("two-keys").contains("noop, one-key[:KEY], random-keys"));
        assert!(why("noop:x").contains("nothing after"));
        let slip = why("one-key:Lefft");
        assert!(slip.contains("`Lefft` is no key"), "{slip}");
        let empty = why("one-key:");
        assert!(empty.contains("is no key"), "{empty}");
    }
}
