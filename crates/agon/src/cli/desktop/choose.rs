//! Which desktop a command means.

use std::sync::Arc;

use agon_desktop::{Desktop, DisplayAddress};

use super::args::ChoiceArgs;
use super::state::{Desktops, Listed};
use crate::cli::failure::Failure;

#[derive(Debug)]
pub(super) enum Chosen {
    /// One that an owner of ours keeps.
    Ours(Box<Listed>),
    /// Somebody else's display.
    Given(DisplayAddress),
}

/// The one that is named, else the only one of ours, else that of `$DISPLAY`.
pub(super) fn choose(choice: &ChoiceArgs) -> Result<Chosen, Failure> {
    match choice.desktop.as_deref() {
        Some(display) if display.contains(':') => {
            Ok(Chosen::Given(DisplayAddress::Named(display.to_owned())))
        }
        Some(id) => {
            let living = Desktops::open()?.living()?;
            Ok(Chosen::Ours(Box::new(by_id(&living, id)?.clone())))
        }
        None => unnamed(Desktops::open()?.living()?),
    }
}

/// Where it is.
pub(in crate::cli) fn address(choice: &ChoiceArgs) -> Result<DisplayAddress, Failure> {
    match choose(choice)? {
        Chosen::Ours(listed) => listed.address(),
        Chosen::Given(address) => Ok(address),
    }
}

/// Where the desktop with this name is.
pub(in crate::cli) fn address_of(name: &str) -> Result<DisplayAddress, Failure> {
    address(&ChoiceArgs {
        desktop: Some(name.to_owned()),
    })
}

/// Connected to.
pub(super) fn desktop(choice: &ChoiceArgs) -> Result<Arc<Desktop>, Failure> {
    connect(&address(choice)?)
}

pub(super) fn connect(address: &DisplayAddress) -> Result<Arc<Desktop>, Failure> {
    Ok(Arc::new(Desktop::connect(address)?))
}

fn unnamed(mut living: Vec<Listed>) -> Result<Chosen, Failure> {
    if living.len() == 1 {
        return Ok(Chosen::Ours(Box::new(living.remove(0))));
    }
    match DisplayAddress::from_environment() {
        Ok(address) => Ok(Chosen::Given(address)),
        Err(error) if living.is_empty() => Err(error.into()),
        Err(_) => Err(Failure::new(format_args!(
            "several desktops run: choose one with --desktop: {}",
            ids(&living)
        ))),
    }
}

pub(super) fn by_id<'a>(living: &'a [Listed], id: &str) -> Result<&'a Listed, Failure> {
    living
        .iter()
        .find(|desktop| desktop.id == id)
        .ok_or_else(|| {
            Failure::new(match living {
                [] => format!(
                    "there is no desktop `{id}`: none runs; start one with `agon desktop start`"
                ),
                _ => format!(
                    "there is no desktop `{id}`; those that run: {}",
                    ids(living)
                ),
            })
        })
}

fn ids(living: &[Listed]) -> String {
    let ids: Vec<&str> = living.iter().map(|desktop| desktop.id.as_str()).collect();
    ids.join(", ")
}
