//! The desktop that something called by name acts on: the one given with the call, the one of this
//! thread's [`with_desktop`], the one of [`use_desktop`], or that of `$DISPLAY`.

use std::cell::RefCell;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::address::DisplayAddress;
use crate::desktop::Desktop;
use crate::error::DesktopError;

static IN_USE: Mutex<Option<Arc<Desktop>>> = Mutex::new(None);

thread_local! {
    static HERE: RefCell<Vec<Arc<Desktop>>> = const { RefCell::new(Vec::new()) };
}

/// What a callable, listener or runnable is given besides its arguments.
#[derive(Debug, Clone, Default)]
pub struct Context {
    given: Option<Arc<Desktop>>,
}

impl Context {
    pub(super) fn of(desktop: &Arc<Desktop>) -> Self {
        Self {
            given: Some(Arc::clone(desktop)),
        }
    }

    /// The desktop to act on; some need none, so it is looked for only now.
    pub fn desktop(&self) -> Result<Arc<Desktop>, DesktopError> {
        match &self.given {
            Some(desktop) => Ok(Arc::clone(desktop)),
            None => current_desktop(),
        }
    }
}

fn in_use() -> MutexGuard<'static, Option<Arc<Desktop>>> {
    IN_USE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Makes a desktop the one that this process acts on by name; gives back the one before.
pub fn use_desktop(desktop: Arc<Desktop>) -> Option<Arc<Desktop>> {
    in_use().replace(desktop)
}

/// Lets go of the desktop of [`use_desktop`]; it ends if nobody else has it.
pub fn forget_desktop() -> Option<Arc<Desktop>> {
    in_use().take()
}

/// Acts on another desktop by name for the time of `work`, in this thread alone.
pub fn with_desktop<T>(desktop: &Arc<Desktop>, work: impl FnOnce() -> T) -> T {
    /// Also when `work` panics.
    struct Back;
    impl Drop for Back {
        fn drop(&mut self) {
            HERE.with_borrow_mut(Vec::pop);
        }
    }
    HERE.with_borrow_mut(|here| here.push(Arc::clone(desktop)));
    let _back = Back;
    work()
}

/// The desktop that a call without one acts on. The first such call connects to `$DISPLAY` where
/// nothing else was said.
pub fn current_desktop() -> Result<Arc<Desktop>, DesktopError> {
    if let Some(desktop) = HERE.with_borrow(|here| here.last().cloned()) {
        return Ok(desktop);
    }
    let mut in_use = in_use();
    if let Some(desktop) = &*in_use {
        return Ok(Arc::clone(desktop));
    }
    let desktop = Arc::new(Desktop::connect(&DisplayAddress::from_environment()?)?);
    *in_use = Some(Arc::clone(&desktop));
    Ok(desktop)
}
